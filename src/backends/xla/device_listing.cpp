#include "backends/xla/device_listing.h"

#include <algorithm>
#include <charconv>

#include "alate/error.h"
#include "backends/host_buffers.h"

namespace alate::xla {
namespace {

using backends::Device;
using backends::DeviceKind;

DeviceKind kind_of(std::string_view platform) {
  if (platform == "cpu") return DeviceKind::processor;
  constexpr std::string_view kGpus[] = {"cuda", "rocm", "sycl", "gpu", "metal"};
  const bool is_gpu = std::ranges::any_of(
      kGpus, [&](std::string_view name) { return std::ranges::search(platform, name).begin() != platform.end(); });
  return is_gpu ? DeviceKind::gpu : DeviceKind::accelerator;
}

// Some platforms spell their names in capitals.
std::string name_of(const Client& client) {
  std::string name = client.platform();
  std::ranges::transform(name, name.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return name;
}

}  // namespace

std::vector<Device> list_devices(const Client& client) {
  const std::string name = name_of(client), driver = client.platform_version();
  std::vector<Device> devices;
  for (std::size_t i = 0; i < client.device_count(); ++i) {
    const DeviceFacts facts = client.describe(i);
    Device device = backends::host_device("xla", facts.kind);
    device.name = name;
    device.index = static_cast<int>(i);
    device.kind = kind_of(name);
    device.description += " through " + client.plugin().path().filename().string();
    device.version = client.plugin().version_text();
    device.library = client.plugin().path().string();
    device.compute_capability = facts.compute_capability;
    if (device.kind != DeviceKind::processor) {
      device.driver = driver;
      device.total_bytes = device.free_bytes = 0;
      device.unified_memory = false;
      if (const std::optional<MemoryUse> memory = client.memory(i)) {
        device.total_bytes = memory->limit;
        device.free_bytes = memory->limit - std::min(memory->limit, memory->used);
      }
    }
    devices.push_back(std::move(device));
  }
  return devices;
}

std::size_t find_device(const Client& client, std::string_view wanted) {
  if (wanted.empty()) return 0;
  const std::string name = name_of(client);
  if (wanted == name || (wanted == "gpu" && kind_of(name) == DeviceKind::gpu)) return 0;
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), index);
  if (error == std::errc() && end == wanted.data() + wanted.size() && index < client.device_count()) return index;
  throw make_error(ErrorCode::unavailable, "xla has no device '", wanted, "': the plugin ",
                   client.plugin().path().string(), " has ", client.device_count(), " of the name '", name,
                   "', which are called by it or by an index from 0");
}

}  // namespace alate::xla
