#include "base/os/process_limits.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/files/kernel_files.h"

namespace alate::base {
namespace {

// proc(5), /proc/PID/limits: "Max address space     SOFT     HARD     bytes"; a value that is not a number means no
// limit.
struct Row {
  const char* limit;  // its line in /proc/PID/limits
  const char* used;   // the line of /proc/PID/status that counts against it
};
constexpr std::array kRows = {Row{"Max address space", "VmSize:"}, Row{"Max data size", "VmData:"}};

// "VmSize:	    3892 kB".
std::uint64_t used_bytes(std::string_view status, std::string_view key) {
  std::string_view value = value_after(status, key).value_or("");
  if (!value.ends_with(" kB")) return 0;
  value.remove_suffix(3);
  const std::uint64_t kilobytes = parse_number(value).value_or(0);
  return kilobytes <= (std::uint64_t{1} << 50) ? kilobytes * 1024 : 0;
}

}  // namespace

ProcessLimits read_process_limits(const std::filesystem::path& root) {
  const std::string limits = read_kernel_file(root / "proc/self/limits").value_or("");
  const std::string status = read_kernel_file(root / "proc/self/status").value_or("");
  ProcessLimits tightest;
  for (const Row& row : kRows) {
    const std::string_view values = value_after(limits, row.limit).value_or("");
    const std::optional<std::uint64_t> limit = parse_number(values.substr(0, values.find(' ')));
    if (!limit || *limit >= (std::uint64_t{1} << 60)) continue;
    const std::size_t room = *limit - std::min(*limit, used_bytes(status, row.used));
    const bool is_first = tightest.limit_bytes == 0;
    tightest.limit_bytes = is_first ? *limit : std::min<std::size_t>(tightest.limit_bytes, *limit);
    tightest.room_bytes = is_first ? room : std::min(tightest.room_bytes, room);
  }
  return tightest;
}

ProcessLimits process_limits() { return read_process_limits("/"); }

}  // namespace alate::base
