// Where the library can run a session: its execution providers, and those of the plugins beside it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/onnxruntime/library.h"

namespace alate::onnxruntime {

/// One that the library has built in, other than the processor's.
struct Provider {
  std::string_view name;    // "CUDAExecutionProvider"
  std::string_view device;  // "cuda"
  backends::DeviceKind kind;
  bool has_indices;  // whether it takes the number of a device
  void (*append)(const Library& library, abi::SessionOptions* options, const Provider& provider, int index);
  std::string_view remedy;  // for one that is in the library and fails
};

/// A device of a provider. Without a provider and a plugin's device it is the processor.
struct Place {
  std::string name = "cpu";
  backends::DeviceKind kind = backends::DeviceKind::processor;
  bool is_emulated = false;
  std::string description = {};
  std::filesystem::path file = {};  // that its provider is in
  const Provider* provider = nullptr;
  int index = 0;  // of the provider's devices
  const abi::EpDevice* plugin_device = nullptr;
  std::optional<std::string> unusable = {};  // what is known without trying
  std::string remedy = {};

  bool is_processor() const { return provider == nullptr && plugin_device == nullptr; }
};

/// The processor first. Of providers that take a number only the first device is here. Opens the plugins that lie in
/// the library's folder and in `folders`; one that cannot be opened is a place that is unusable. What only poses as
/// hardware (`is_virtual`), to compile for it, is unusable too.
std::vector<Place> find_places(const Library& library, const std::vector<std::filesystem::path>& folders);

/// Makes sessions with these options run there. Throws what the provider says.
void append_place(const Library& library, abi::SessionOptions* options, const Place& place);

}  // namespace alate::onnxruntime
