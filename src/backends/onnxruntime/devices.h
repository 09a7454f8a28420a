// The places of a library as devices that were tried.
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

/// Each place computes something small before it is called usable, without the processor's help: a provider that leaves
/// nodes to the processor has failed. That is done once, at the first question. Thread-safe.
class Devices {
 public:
  /// Plugins are looked for beside the library and in `plugin_folders`.
  Devices(std::shared_ptr<const Library> library, std::vector<std::filesystem::path> plugin_folders)
      : library_(std::move(library)), plugin_folders_(std::move(plugin_folders)) {}

  /// The processor first, with the memory of now.
  std::vector<backends::Device> list();

  /// The place of a device's name (the first usable one of it) or index. The processor, "" or "cpu", is not tried.
  /// Throws unavailable that names the devices there are, or says why the one asked for is unusable.
  Place choose(std::string_view device);

 private:
  const std::vector<Place>& places();

  std::shared_ptr<const Library> library_;
  std::vector<std::filesystem::path> plugin_folders_;
  base::Mutex mutex_;
  std::optional<std::vector<Place>> places_;
};

}  // namespace alate::onnxruntime
