// Places where the library can run a session: its execution providers, and those of the plugins beside it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/onnxruntime/library.h"

namespace alate::onnxruntime {

/// An execution provider built into the library, other than the processor's.
struct Provider {
  std::string_view name;    // "CUDAExecutionProvider"
  std::string_view device;  // "cuda"
  backends::DeviceKind kind;
  bool has_indices;  // whether it takes a device number
  void (*append)(const Library& library, abi::SessionOptions* options, const Provider& provider, int index);
  std::string_view remedy;  // when the library has it and it fails
};

/// A device of a provider. Without a provider and a plugin's device it is the processor.
struct Place {
  std::string name = "cpu";
  backends::DeviceKind kind = backends::DeviceKind::processor;
  bool is_emulated = false;
  std::string description = {};
  std::filesystem::path file = {};  // that contains its provider
  const Provider* provider = nullptr;
  int index = 0;  // of the provider's devices
  const abi::EpDevice* plugin_device = nullptr;
  std::optional<std::string> unusable = {};  // known without a test
  std::string remedy = {};

  bool is_processor() const { return provider == nullptr && plugin_device == nullptr; }
};

/// The processor first. Providers that take a device number are listed with their first device only. Opens the plugins
/// in the library's folder and in `folders`; one that cannot be opened gives an unusable place. Devices that only pose
/// as hardware (`is_virtual`), to compile for it, are unusable too.
std::vector<Place> find_places(const Library& library, const std::vector<std::filesystem::path>& folders);

/// Makes sessions with these options run on the place. Throws the provider's errors.
void append_place(const Library& library, abi::SessionOptions* options, const Place& place);

}  // namespace alate::onnxruntime
