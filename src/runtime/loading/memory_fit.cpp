// Comparison of memory requests with devices, as pure functions.
#include <algorithm>

#include "runtime/loading/memory_estimate.h"

namespace alate::runtime {
namespace {

std::string name_of(const backends::Device& device) {
  return device.backend + (device.name.empty() ? "" : ":" + device.name);
}

bool holds(const backends::Device& device, std::uint64_t bytes) {
  return !device.unusable && !device.is_emulated && device.total_bytes > 0 && device.free_bytes >= bytes;
}

// Why a device is refused; empty when it is accepted.
std::string refusal(const backends::Device& device, std::uint64_t bytes) {
  if (device.unusable) return name_of(device) + " cannot be used: " + *device.unusable;
  if (device.is_emulated) return name_of(device) + " is emulated by the processor: it is taken only when asked for";
  if (device.total_bytes == 0) return name_of(device) + " does not say how much memory it has";
  if (device.free_bytes < bytes)
    return name_of(device) + " has " + human_bytes(device.free_bytes) + " free, " + human_bytes(bytes) + " are needed";
  return {};
}

}  // namespace

std::uint64_t MemoryRequest::bytes() const {
  std::uint64_t total = 0;
  for (const Part& part : parts) total = part.bytes > UINT64_MAX - total ? UINT64_MAX : total + part.bytes;
  return total;
}

std::string describe(const MemoryRequest& request) {
  std::string list;
  for (const MemoryRequest::Part& part : request.parts) {
    if (part.bytes > 0) list += (list.empty() ? "" : ", ") + part.name + " " + human_bytes(part.bytes);
  }
  return human_bytes(request.bytes()) + (list.empty() ? "" : " (" + list + ")");
}

std::optional<std::string> check_fits(const MemoryRequest& request, const backends::Device& device,
                                      std::span<const backends::Device> others) {
  if (device.total_bytes == 0 || request.bytes() <= device.free_bytes) return std::nullopt;
  std::string text = request.what + " needs " + describe(request) + ", but " + name_of(device) + " has " +
                     human_bytes(device.free_bytes) + " free of " + human_bytes(device.total_bytes);
  std::string fitting;
  std::vector<std::string_view> kinds;
  for (const MemoryRequest::Smaller& each : request.smaller) {
    if (each.bytes > device.free_bytes || std::ranges::find(kinds, each.kind) != kinds.end()) continue;
    kinds.push_back(each.kind);
    fitting += (fitting.empty() ? "" : ", or ") + each.change + " (" + human_bytes(each.bytes) + ")";
  }
  for (const backends::Device& other : others) {
    const bool is_same = other.backend == device.backend && other.index == device.index;
    if (!is_same && holds(other, request.bytes()))
      fitting += (fitting.empty() ? "" : ", or ") + std::string("--backend ") + name_of(other) + " (" +
                 human_bytes(other.free_bytes) + " free)";
  }
  if (fitting.empty()) return text + "; nothing smaller fits: free memory, raise the limit, or use a smaller model";
  return text + "; what fits: " + fitting;
}

DeviceChoice choose_device_by_memory(std::span<const backends::Device> devices, std::uint64_t bytes) {
  DeviceChoice choice;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    std::string reason = refusal(devices[i], bytes);
    if (reason.empty()) {
      choice.device = i;
      choice.reason =
          name_of(devices[i]) + " has " + human_bytes(devices[i].free_bytes) + " free for " + human_bytes(bytes);
      return choice;
    }
    choice.passed_over.push_back(std::move(reason));
  }
  choice.reason = devices.empty() ? "there are no devices" : "no device holds " + human_bytes(bytes);
  return choice;
}

}  // namespace alate::runtime
