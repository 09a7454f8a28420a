// A load as the layers below the public interface see it.
#pragma once

#include <filesystem>
#include <utility>

#include "alate/model.h"
#include "machine/selection.h"

namespace alate::runtime {

/// The caller's options, and who made the choices in them: the command line, the server's settings, a request.
struct LoadRequest {
  LoadRequest() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): options without an origin are the library's user's own.
  LoadRequest(LoadOptions given, machine::ChoiceOrigin by = {}) : options(std::move(given)), origin(std::move(by)) {}

  LoadOptions options;
  machine::ChoiceOrigin origin;
  std::filesystem::path transformer = {};  // a module's folder (find_transformer_files); empty: as find_model_files
};

/// The preferences in the request, or the process's priority where there are none.
machine::Preferences preferences_of(const LoadRequest& request);

}  // namespace alate::runtime
