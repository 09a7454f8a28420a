#include "base/hardware/cpu_facts.h"

#include <algorithm>
#include <cmath>
#include <thread>

#include "base/files/kernel_files.h"
#include "base/hardware/cgroup.h"
#include "base/hardware/processor.h"
#include "base/hardware/processor_list.h"
#include "base/split_text.h"

namespace alate::base {
namespace {

std::string brand_in(std::string_view cpuinfo) {
  const std::optional<std::string_view> value = value_after(cpuinfo, "model name");
  if (!value || !value->starts_with(':')) return {};
  return std::string(strip_spaces(value->substr(1)));
}

// "32K", "1024K", "36M" or plain bytes.
std::size_t parse_cache_size(std::string_view text) {
  text = strip_spaces(text);
  if (text.empty()) return 0;
  const std::size_t unit = text.back() == 'K' ? 1024 : text.back() == 'M' ? 1024 * 1024 : 1;
  if (unit != 1) text.remove_suffix(1);
  const std::uint64_t number = parse_number(text).value_or(0);
  return number <= (std::uint64_t{1} << 40) ? number * unit : 0;
}

void read_caches(const std::filesystem::path& folder, CpuFacts& facts) {
  constexpr int kMostCaches = 8;
  for (int i = 0; i < kMostCaches; ++i) {
    const std::filesystem::path cache = folder / "cache" / ("index" + std::to_string(i));
    const std::optional<std::string> type = read_kernel_file(cache / "type");
    if (!type) break;
    if (strip_spaces(*type) == "Instruction") continue;
    const std::size_t bytes = parse_cache_size(read_kernel_file(cache / "size").value_or(""));
    switch (read_number(cache / "level").value_or(0)) {
      case 1: facts.l1d_bytes = bytes; break;
      case 2: facts.l2_bytes = bytes; break;
      case 3: facts.l3_bytes = bytes; break;
      default: break;
    }
  }
}

// Linux, Documentation/admin-guide/cgroup-v2.rst, cpu.max: "QUOTA PERIOD" in microseconds, or "max PERIOD".
// Version 1 (scheduler/sched-bwc.rst): cpu.cfs_quota_us, -1 for none, and cpu.cfs_period_us.
double quota_of(const CgroupFolder& group) {
  std::optional<std::uint64_t> quota;
  std::optional<std::uint64_t> period;
  if (group.version == 2) {
    const std::string text = read_kernel_file(group.path / "cpu.max").value_or("");
    const std::vector<std::string_view> parts = split_text(strip_spaces(text), ' ');
    if (parts.size() != 2) return 0;
    quota = parse_number(parts[0]);
    period = parse_number(parts[1]);
  } else {
    quota = read_number(group.path / "cpu.cfs_quota_us");
    period = read_number(group.path / "cpu.cfs_period_us");
  }
  if (!quota || !period || *quota == 0 || *period == 0) return 0;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

// The tightest quota of the group and its parents; 0 if there is none.
double tightest_quota(const std::filesystem::path& root) {
  double tightest = 0;
  for (const CgroupFolder& group : cgroup_folders(root, "cpu")) {
    const double quota = quota_of(group);
    if (quota > 0 && (tightest == 0 || quota < tightest)) tightest = quota;
  }
  return tightest;
}

}  // namespace

bool CpuFacts::has(std::string_view feature) const { return std::ranges::find(features, feature) != features.end(); }

CpuFacts read_cpu_facts(const std::filesystem::path& root) {
  Processor processor = read_processor();
  CpuFacts facts;
  facts.brand = brand_in(read_kernel_file(root / "proc/cpuinfo").value_or(""));
  if (facts.brand.empty()) facts.brand = std::move(processor.brand);
  facts.features = std::move(processor.features);
  facts.best = processor.best;

  std::vector<std::size_t> online = online_processors(root);
  if (online.empty()) {
    for (std::size_t i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) online.push_back(i);
  }
  facts.logical_cores = online.size();
  const std::vector<std::size_t> usable = allowed_processors(root, online);
  facts.affinity_cores = usable.size();
  facts.physical_cores = one_of_each_core(root, usable).size();
  facts.quota_cores = tightest_quota(root);
  facts.usable_cores = facts.physical_cores;
  if (facts.quota_cores > 0 && facts.quota_cores < static_cast<double>(facts.physical_cores)) {
    facts.usable_cores = static_cast<std::size_t>(std::ceil(facts.quota_cores));
  }
  read_caches(processor_folder(root, usable.front()), facts);
  return facts;
}

const CpuFacts& cpu_facts() {
  static const CpuFacts facts = read_cpu_facts();
  return facts;
}

}  // namespace alate::base
