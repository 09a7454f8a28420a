#include "base/hardware/processor_list.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/files/kernel_files.h"

namespace alate::base {

std::filesystem::path processor_folder(const std::filesystem::path& root, std::size_t processor) {
  return root / "sys/devices/system/cpu" / ("cpu" + std::to_string(processor));
}

std::vector<std::size_t> online_processors(const std::filesystem::path& root) {
  return parse_cpu_list(read_kernel_file(root / "sys/devices/system/cpu/online").value_or(""));
}

std::vector<std::size_t> allowed_processors(const std::filesystem::path& root, const std::vector<std::size_t>& online) {
  const std::string status = read_kernel_file(root / "proc/self/status").value_or("");
  // The list also contains absent processors that could be hot-plugged.
  std::vector<std::size_t> allowed;
  std::ranges::set_intersection(parse_cpu_list(value_after(status, "Cpus_allowed_list:").value_or("")), online,
                                std::back_inserter(allowed));
  return allowed.empty() ? online : allowed;
}

// Hyperthreads of one core have the same siblings list.
std::vector<std::size_t> one_of_each_core(const std::filesystem::path& root,
                                          const std::vector<std::size_t>& processors) {
  std::set<std::vector<std::size_t>> cores;
  std::vector<std::size_t> first;
  for (const std::size_t processor : processors) {
    const std::filesystem::path siblings_file = processor_folder(root, processor) / "topology/thread_siblings_list";
    std::vector<std::size_t> siblings = parse_cpu_list(read_kernel_file(siblings_file).value_or(""));
    if (siblings.empty()) siblings = {processor};
    if (cores.insert(std::move(siblings)).second) first.push_back(processor);
  }
  return first;
}

}  // namespace alate::base
