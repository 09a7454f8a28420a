// Which backends requests may name, and which device each spelling of one means.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/threads/mutex.h"
#include "machine/selection.h"
#include "server/settings/settings.h"

namespace alate::server {

/// Each model takes memory once for each backend and device that it runs on, so that clients choose among what the
/// server is set up for: the backends of settings.backend_priority; where that is empty or has auto, those of the
/// automatic order, which the slow reference interpreter is not. Thread-safe.
class BackendChoices {
 public:
  explicit BackendChoices(const Settings& settings);

  /// "NAME:INDEX", one text for each device: of "onnx", "ort:cpu" and "onnx:0". Empty for an empty one. Nothing where
  /// that has not been asked before: then `resolve` can tell. Throws invalid_argument for a name that no backend has,
  /// unsupported for one that requests may not name. Never waits.
  std::optional<std::string> find_in_memory(std::string_view asked) const;
  /// The same, and looks at the backend's devices, which may open its library in a process of its own. Throws
  /// unsupported too where this machine lacks the backend or the device; `model` is for the message.
  std::string resolve(std::string_view asked, std::string_view model);

 private:
  machine::BackendSpec allowed(std::string_view asked) const;

  std::vector<machine::BackendSpec> choices_;  // without a device: each of the backend's
  mutable base::Mutex mutex_;
  std::map<std::string, std::string, std::less<>> known_;  // as asked for, by what `resolve` found
};

}  // namespace alate::server
