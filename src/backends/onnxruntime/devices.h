// The places where a library can run sessions, as tested devices.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "backends/backend.h"
#include "backends/onnxruntime/places.h"
#include "base/threads/mutex.h"

namespace alate::onnxruntime {

/// A place counts as usable once it has run a small graph without the processor's help: a provider that leaves nodes to
/// the processor fails. The test is run once, at the first query. Thread-safe.
class Devices {
 public:
  /// Plugins are searched for beside the library and in `plugin_folders`.
  Devices(std::shared_ptr<const Library> library, std::vector<std::filesystem::path> plugin_folders)
      : library_(std::move(library)), plugin_folders_(std::move(plugin_folders)) {}

  /// All devices, the processor first, with current memory figures.
  std::vector<backends::Device> list();

  /// The place for a device's name (its first usable device) or index. The processor, "" or "cpu", is not tested.
  /// Throws unavailable, naming the devices there are or saying why the one asked for is unusable.
  Place choose(std::string_view device);

 private:
  const std::vector<Place>& places();

  std::shared_ptr<const Library> library_;
  std::vector<std::filesystem::path> plugin_folders_;
  base::Mutex mutex_;
  std::optional<std::vector<Place>> places_;
};

}  // namespace alate::onnxruntime
