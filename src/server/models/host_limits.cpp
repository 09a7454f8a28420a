#include "server/models/host_limits.h"

#include <algorithm>

namespace alate::server {
namespace {

constexpr std::size_t kMegabyte = std::size_t{1} << 20;
constexpr std::size_t kBytesAModel = 512 * kMegabyte, kFewestModels = 4, kMostModels = 64;
constexpr std::size_t kLeastBytes = 64 * kMegabyte;
constexpr std::size_t kUnknownMemory = 4096 * kMegabyte;  // assumed free if the system does not report it

}  // namespace

HostLimits host_limits(const Settings& settings, const base::MemoryFacts& memory) {
  const std::size_t free = memory.total_bytes == 0 ? kUnknownMemory : memory.available_bytes;
  HostLimits limits;
  limits.models = settings.max_loaded_models.value_or(std::clamp(free / kBytesAModel, kFewestModels, kMostModels));
  limits.bytes = settings.max_memory_mb ? *settings.max_memory_mb * kMegabyte : std::max(free / 4 * 3, kLeastBytes);
  return limits;
}

}  // namespace alate::server
