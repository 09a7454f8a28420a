#include "backends/onnxruntime/places.h"

#include <algorithm>
#include <span>

#include "alate/error.h"
#include "backends/onnxruntime/plugins.h"
#include "backends/onnxruntime/providers.h"

namespace alate::onnxruntime {
namespace {

std::vector<std::string> available_providers(const Library& library) {
  char** names = nullptr;
  int count = 0;
  library.check<abi::GetAvailableProviders>("asking for the execution providers", &names, &count);
  std::vector<std::string> all(names, names + count);
  library.check<abi::ReleaseAvailableProviders>("asking for the execution providers", names, count);
  return all;
}

// Software renderers pose as a GPU: some WebGPU implementations run on the processor.
bool has_gpu(const Library& library) {
  if (!library.has<abi::GetHardwareDevices>()) return true;  // unknown
  std::size_t count = 0;
  library.check<abi::GetNumHardwareDevices>("asking for the hardware",
                                            static_cast<const abi::Env*>(library.environment()), &count);
  std::vector<const abi::HardwareDevice*> devices(count);
  library.check<abi::GetHardwareDevices>("asking for the hardware", static_cast<const abi::Env*>(library.environment()),
                                         devices.data(), count);
  return std::ranges::any_of(devices, [&](const abi::HardwareDevice* device) {
    return library.call<abi::HardwareDevice_Type>(device) == abi::kGpuHardware;
  });
}

}  // namespace

std::vector<Place> find_places(const Library& library, const std::vector<std::filesystem::path>& folders) {
  std::vector<Place> places{{.description = "the processor through ONNX Runtime", .file = library.path()}};
  const std::vector<std::string> available = available_providers(library);
  for (const Provider& provider : known_providers()) {
    if (std::ranges::find(available, provider.name) == available.end()) continue;
    places.push_back({.name = std::string(provider.device),
                      .kind = provider.kind,
                      .is_emulated = provider.device == "webgpu" && !has_gpu(library),
                      .description = std::string(provider.name) + " of ONNX Runtime",
                      .file = library.path(),
                      .provider = &provider,
                      .remedy = std::string(provider.remedy)});
  }
  for (Place& place : plugin_places(library, available, folders)) places.push_back(std::move(place));
  return places;
}

void append_place(const Library& library, abi::SessionOptions* options, const Place& place) {
  if (place.unusable) throw make_error(ErrorCode::unavailable, "onnx:", place.name, ": ", *place.unusable);
  if (place.plugin_device != nullptr) {
    library.check<abi::SessionOptionsAppendExecutionProvider_V2>(
        "onnx:" + place.name, options, library.environment(), &place.plugin_device, std::size_t{1},
        static_cast<abi::Strings>(nullptr), static_cast<abi::Strings>(nullptr), std::size_t{0});
  } else if (place.provider != nullptr) {
    place.provider->append(library, options, *place.provider, place.index);
  }
}

}  // namespace alate::onnxruntime
