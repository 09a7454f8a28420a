// Backends that requests may name, and the device that each spelling refers to.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alate/backend_choice.h"
#include "base/threads/mutex.h"
#include "server/settings/settings.h"

namespace alate::server {

/// A model takes memory once per backend and device it runs on, so clients may choose only among the backends that the
/// server is configured for: those of settings.backend_priority or, where it is empty or contains auto, those of the
/// automatic order, which excludes the slow reference interpreter. Thread-safe.
class BackendChoices {
 public:
  explicit BackendChoices(const Settings& settings);

  /// "NAME:INDEX", the canonical spelling of a device for "onnx", "ort:cpu" and "onnx:0" alike. Empty for an empty
  /// name. Nothing if it has not been asked for before: call `resolve` then. Throws invalid_argument for an unknown
  /// backend name, unsupported for one that requests may not name. Never blocks.
  std::optional<std::string> find_in_memory(std::string_view asked) const;
  /// The same, but queries the backend's devices, which may open its library in a separate process. Also throws
  /// unsupported if this machine lacks the backend or the device; `model` is for the message.
  std::string resolve(std::string_view asked, std::string_view model);

 private:
  BackendPlace allowed(std::string_view asked) const;

  std::vector<BackendPlace> choices_;  // without a device: any of the backend's
  mutable base::Mutex mutex_;
  std::map<std::string, std::string, std::less<>> known_;  // requested spelling to result of `resolve`
};

}  // namespace alate::server
