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

/// NAME or NAME:DEVICE.
struct BackendSpec {
  std::string backend;
  std::string device;  // empty: any

  /// Splits at the first colon.
  static BackendSpec parse(std::string_view text);
};

/// The facts about a model that selection needs.
struct ModelNeeds {
  std::string name;
  std::vector<std::string> backends = {};  // named by its manifest; empty: any
  std::string file_extension = {};         // of a file that must be run directly (".onnx"); empty: the model is a graph
  std::uint64_t bytes = 0;                 // of memory that it takes once loaded; 0: unknown
  std::string dtype = "float32";           // in which it computes
};

/// The preferences of users, files and environment variables.
struct Preferences {
  std::vector<std::string> wanted = {};  // NAME[:DEVICE] or auto, first choice first; empty: auto
  std::string asked_by = "--backend";    // their origin, for messages
  bool is_wish = false;                  // from another system's variable: followed where possible, never strict
  std::string device = {};               // for wanted backends that name no device
  std::string gpu = "auto";              // auto, cuda, coreml, tpu: these first; off: no accelerators
  bool gpu_is_wish = false;
  BackendPolicy policy = BackendPolicy::warn;
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

/// The command that fetches the backend's library; empty for a backend that no package is known for.
std::string install_hint(std::string_view backend);

/// Names that backends have on other machines or in other builds, so that a configuration may name them.
std::span<const std::string_view> names_elsewhere();

}  // namespace alate::machine
