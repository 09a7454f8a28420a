// The choice of a backend: a pure function of the model, the preferences and the machine.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alate/error.h"
#include "alate/selection.h"
#include "machine/machine.h"

namespace alate::machine {

/// The facts about a model that selection needs.
struct ModelNeeds {
  std::string name;
  std::vector<BackendPlace> backends = {};  // named by its manifest; empty: any
  std::string file_extension = {};  // of a file that must be run directly (".onnx"); empty: the model is a graph
  std::uint64_t bytes = 0;          // of memory that it takes once loaded; 0: unknown
  std::string dtype = "float32";    // in which it computes
};

/// Who made a choice, and how much it binds. A wish comes from another system's variable: it is followed where that is
/// possible, and is never an error. The public interface knows only choices that the caller made itself.
struct ChoiceOrigin {
  std::string places = "the options";  // "--backend", "GOMLX_BACKEND": for messages
  bool places_are_wish = false;
  bool accelerators_are_wish = false;

  bool operator==(const ChoiceOrigin&) const = default;
};

/// The preferences of users, files and environment variables.
struct Preferences {
  BackendChoice choice = {};
  ChoiceOrigin origin = {};
};

/// A choice that failed when it was tried.
struct FailedChoice {
  std::string backend, device_index, reason;
  ErrorCode code = ErrorCode::unavailable;
};

/// What selection comes to. Where nothing can run the model, the selection has no backend, only the choices considered
/// and the error as its reason, and `error` is unavailable, resource_exhausted or unsupported with every refusal's
/// reason and what would help.
struct Consideration {
  Selection selection;
  std::optional<Error> error = std::nullopt;
};

/// Throws invalid_argument for a name that no backend has (suggesting the nearest one).
Consideration consider(const ModelNeeds& model, const Preferences& preferences, const Machine& machine,
                       std::span<const FailedChoice> failed = {});

/// The selection, or the error thrown.
Selection select(const ModelNeeds& model, const Preferences& preferences, const Machine& machine,
                 std::span<const FailedChoice> failed = {});

/// Whether selection would look at a backend's devices; if not, its library need not be opened. `may_have_accelerators`
/// tells what is known from the machine's hardware without any library.
bool concerns(const Preferences& preferences, const BackendState& backend, bool may_have_accelerators);

/// Whether a device of a backend goes by this name: its own, its index in digits, or "gpu" for any real one.
bool is_called(const backends::Device& device, std::string_view name);

/// The command that fetches the backend's library; empty for a backend that no package is known for.
std::string install_hint(std::string_view backend);

/// Names that backends have on other machines or in other builds, so that a configuration may name them.
std::span<const std::string_view> names_elsewhere();

}  // namespace alate::machine
