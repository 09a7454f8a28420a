#include "backends/onnxruntime/plugins.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <mutex>
#include <set>

#include "alate/error.h"
#include "backends/onnxruntime/providers.h"
#include "base/libraries/shared_library.h"
#include "base/threads/mutex.h"

namespace alate::onnxruntime {
namespace {

namespace fs = std::filesystem;
using backends::DeviceKind;

constexpr std::string_view kMark = "onnxruntime_providers_";

// "webgpu" of libonnxruntime_providers_webgpu.so; empty for other files.
std::string plugin_name(const fs::path& file) {
  const std::string extension = file.extension().string();
  if (extension != ".so" && extension != ".dll" && extension != ".dylib") return {};
  std::string stem = file.stem().string();
  if (stem.starts_with("lib")) stem = stem.substr(3);
  if (!stem.starts_with(kMark) || stem == std::string(kMark) + "shared") return {};
  stem = stem.substr(kMark.size());
  return stem.substr(0, stem.find("_plugin"));
}

void look_in(const fs::path& folder, std::vector<fs::path>& files) {
  std::error_code ignored;
  std::set<fs::path> entries;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) entries.insert(entry.path());
  for (const fs::path& entry : entries) {
    if (!plugin_name(entry).empty()) files.push_back(fs::absolute(entry, ignored));
  }
}

// Libraries of the built-in providers do not export this function: only ONNX Runtime itself opens them.
bool is_plugin(const fs::path& file) {
  return base::SharedLibrary::open(file).function<void (*)()>("CreateEpFactories") != nullptr;
}

std::string device_name(std::string provider) {
  for (const Provider& known : known_providers()) {
    if (known.name == provider) return std::string(known.device);
  }
  provider = provider.substr(0, provider.find("ExecutionProvider"));
  for (char& c : provider) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return provider;
}

std::vector<const abi::EpDevice*> all_devices(const Library& library) {
  const abi::EpDevice* const* devices = nullptr;
  std::size_t count = 0;
  library.check<abi::GetEpDevices>("asking for devices", static_cast<const abi::Env*>(library.environment()), &devices,
                                   &count);
  return {devices, devices + count};
}

// Registers the plugin, once per process and library, and returns the devices that it added.
std::vector<const abi::EpDevice*> devices_of(const Library& library, const fs::path& file) {
  static base::Mutex mutex;
  static std::map<std::pair<const abi::Env*, std::string>, std::vector<const abi::EpDevice*>> registered;
  const std::string name = plugin_name(file);
  const std::lock_guard lock(mutex);
  const auto [entry, is_new] = registered.try_emplace({library.environment(), name});
  if (!is_new) return entry->second;
  try {
    const std::vector<const abi::EpDevice*> before = all_devices(library);
    library.check<abi::RegisterExecutionProviderLibrary>("opening " + file.filename().string(), library.environment(),
                                                         name.c_str(), file.c_str());
    for (const abi::EpDevice* device : all_devices(library)) {
      if (std::ranges::find(before, device) == before.end()) entry->second.push_back(device);
    }
  } catch (...) {
    registered.erase(entry);
    throw;
  }
  return entry->second;
}

Place place_of(const Library& library, const abi::EpDevice* device, const fs::path& file) {
  const abi::HardwareDevice* hardware = library.call<abi::EpDevice_Device>(device);
  const int type = library.call<abi::HardwareDevice_Type>(hardware);
  const auto is_set = [&](const abi::KeyValuePairs* pairs) {
    const char* value = pairs == nullptr ? nullptr : library.call<abi::GetKeyValue>(pairs, "is_virtual");
    return value != nullptr && std::string_view(value) != "0";
  };
  const std::string provider = library.call<abi::EpDevice_EpName>(device);
  const char* vendor = library.call<abi::HardwareDevice_Vendor>(hardware);
  Place place{.name = device_name(provider),
              .kind = type == abi::kGpuHardware         ? DeviceKind::gpu
                      : type == abi::kProcessorHardware ? DeviceKind::processor
                                                        : DeviceKind::accelerator,
              .description = provider + (vendor == nullptr || *vendor == 0 ? "" : " on " + std::string(vendor)),
              .file = file,
              .plugin_device = device};
  if (is_set(library.call<abi::HardwareDevice_Metadata>(hardware)) ||
      is_set(library.call<abi::EpDevice_EpMetadata>(device))) {
    place.unusable = "it is virtual: models can be compiled for it, not run";
    place.remedy = "use a machine that has the hardware";
  }
  return place;
}

Place refused(const fs::path& file, std::string why, std::string remedy) {
  const std::string name = plugin_name(file);
  const auto known = std::ranges::find(known_providers(), name, &Provider::device);
  return {.name = name,
          .kind = known == known_providers().end() ? DeviceKind::accelerator : known->kind,
          .description = "execution provider in " + file.filename().string(),
          .file = file,
          .unusable = std::move(why),
          .remedy = std::move(remedy)};
}

}  // namespace

std::vector<Place> plugin_places(const Library& library, std::span<const std::string> built_in,
                                 const std::vector<fs::path>& folders) {
  std::vector<Place> places;
  if (!library.has<abi::RegisterExecutionProviderLibrary>()) return places;
  std::vector<fs::path> files;
  look_in(library.path().parent_path(), files);
  for (const fs::path& folder : folders) look_in(folder, files);
  std::set<std::string> names;
  for (const fs::path& file : files) {
    if (!names.insert(plugin_name(file)).second) continue;
    try {
      if (!is_plugin(file)) continue;
      const std::vector<const abi::EpDevice*> devices = devices_of(library, file);
      for (const abi::EpDevice* device : devices) {
        if (std::ranges::find(built_in, library.call<abi::EpDevice_EpName>(device)) == built_in.end())
          places.push_back(place_of(library, device, file));
      }
      if (devices.empty())
        places.push_back(refused(file, "it finds no device of its kind on this machine",
                                 "install the driver of the device that it is for"));
    } catch (const Error& error) {
      places.push_back(
          refused(file, error.message(), "install a version of it that is made for ONNX Runtime " + library.version()));
    }
  }
  return places;
}

}  // namespace alate::onnxruntime
