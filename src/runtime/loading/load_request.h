// A load as the layers below the public interface see it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <utility>

#include "alate/model.h"
#include "machine/selection.h"

namespace alate::runtime {

class StepTurns;

/// The caller's options, and who made the choices in them: the command line, the server's settings, a request.
struct LoadRequest {
  LoadRequest() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): options without an origin are the library's user's own.
  LoadRequest(LoadOptions given, machine::ChoiceOrigin by = {}) : options(std::move(given)), origin(std::move(by)) {}

  LoadOptions options;
  machine::ChoiceOrigin origin;
  std::uint64_t most_cache_bytes = 0;      // of a decoder's keys and values; 0: as the machine's memory holds
  std::shared_ptr<StepTurns> turns = {};   // of all decoders on the machine's cores; null: of no others
  std::filesystem::path transformer = {};  // a module's folder (find_transformer_files); empty: as find_model_files
};

/// The preferences in the request, or the process's priority where there are none.
machine::Preferences preferences_of(const LoadRequest& request);

}  // namespace alate::runtime
