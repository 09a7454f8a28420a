#include <algorithm>

#include "base/files/kernel_files.h"
#include "base/hardware/cgroup.h"
#include "base/hardware/cpu_facts.h"
#include "base/os/process_limits.h"

namespace alate::base {
namespace {

// proc(5), /proc/meminfo: "MemTotal:       16384 kB".
std::size_t meminfo_bytes(std::string_view meminfo, std::string_view key) {
  std::string_view value = value_after(meminfo, key).value_or("");
  if (!value.ends_with(" kB")) return 0;
  value.remove_suffix(3);
  const std::uint64_t kilobytes = parse_number(value).value_or(0);
  return kilobytes <= (std::uint64_t{1} << 50) ? kilobytes * 1024 : 0;
}

struct Files {
  const char* limit;
  const char* usage;
  const char* reclaimable;  // the key in memory.stat
};

// Linux, Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst. Inactive cached file pages count as usage,
// but the kernel drops them before it refuses memory.
constexpr Files kVersion1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "};
constexpr Files kVersion2{"memory.max", "memory.current", "inactive_file "};

}  // namespace

MemoryFacts read_memory_facts(const std::filesystem::path& root) {
  const std::string meminfo = read_kernel_file(root / "proc/meminfo").value_or("");
  MemoryFacts facts;
  facts.total_bytes = meminfo_bytes(meminfo, "MemTotal:");
  facts.available_bytes = meminfo_bytes(meminfo, "MemAvailable:");
  for (const CgroupFolder& group : cgroup_folders(root, "memory")) {
    const Files& files = group.version == 2 ? kVersion2 : kVersion1;
    // "max" is not a number; version 1 expresses "unlimited" as a number beyond any machine's memory.
    const std::optional<std::uint64_t> limit = read_number(group.path / files.limit);
    if (!limit || (facts.total_bytes != 0 && *limit >= facts.total_bytes)) continue;
    facts.limit_bytes = facts.limit_bytes == 0 ? *limit : std::min<std::size_t>(facts.limit_bytes, *limit);
    const std::uint64_t usage = read_number(group.path / files.usage).value_or(0);
    const std::string stat = read_kernel_file(group.path / "memory.stat").value_or("");
    const std::uint64_t reclaimable = parse_number(value_after(stat, files.reclaimable).value_or("")).value_or(0);
    const std::uint64_t held = usage - std::min(usage, reclaimable);
    facts.available_bytes = std::min<std::size_t>(facts.available_bytes, *limit - std::min(*limit, held));
  }
  const ProcessLimits process = read_process_limits(root);
  if (process.limit_bytes > 0) facts.available_bytes = std::min(facts.available_bytes, process.room_bytes);
  return facts;
}

}  // namespace alate::base
