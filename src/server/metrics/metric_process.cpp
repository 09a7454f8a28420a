#include "server/metrics/metric_process.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <system_error>

namespace alate::server {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

std::optional<std::uint64_t> read_resident_bytes() {
  // proc(5): /proc/self/statm lists sizes in pages: size, resident, ...
  std::ifstream file("/proc/self/statm");
  std::uint64_t size = 0, resident = 0;
  if (!(file >> size >> resident)) return std::nullopt;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::optional<double> read_start_time() {
  // proc(5): field 22 of /proc/self/stat, in clock ticks since boot; the boot time is "btime" in /proc/stat. Field 2 is
  // the program's name in parentheses, which may contain spaces.
  std::ifstream file("/proc/self/stat");
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(name_end + 1));
  constexpr int kFieldsBetween = 19;  // 3 to 21
  std::string skipped;
  for (int i = 0; i < kFieldsBetween; ++i) fields >> skipped;
  double ticks = 0;
  if (!(fields >> ticks)) return std::nullopt;

  std::ifstream machine("/proc/stat");
  for (std::string row; std::getline(machine, row);) {
    double boot = 0;
    if (row.starts_with("btime ") && std::istringstream(row.substr(6)) >> boot)
      return boot + ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
  }
  return std::nullopt;
}

std::optional<std::uint64_t> count_open_files() {
  std::error_code error;
  std::filesystem::directory_iterator files("/proc/self/fd", error);
  if (error) return std::nullopt;
  std::uint64_t count = 0;
  for (; files != std::filesystem::directory_iterator(); files.increment(error)) {
    if (error) return std::nullopt;
    ++count;
  }
  return count > 0 ? count - 1 : 0;  // one is the directory just read
}

}  // namespace

ProcessFacts process_facts() {
  ProcessFacts facts;
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) == 0) facts.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) facts.most_open_files = files.rlim_cur;
  static const std::optional<double> start_time = read_start_time();
  facts.start_time = start_time;
  facts.resident_bytes = read_resident_bytes();
  facts.open_files = count_open_files();
  return facts;
}

}  // namespace alate::server
