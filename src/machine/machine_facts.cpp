#include "machine/machine_facts.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "alate/memory.h"
#include "base/os/platform.h"

namespace alate::machine {
namespace {

using formats::Json;

// The features that affect the speed of models.
constexpr std::array<std::string_view, 17> kFeatures = {
    "avx2",        "fma",      "f16c",     "avx_vnni", "avx512f", "avx512bw", "avx512vl", "avx512_vnni", "avx512_bf16",
    "avx512_fp16", "amx_tile", "amx_int8", "amx_bf16", "asimddp", "i8mm",     "bf16",     "sve"};

std::string listed_features(const base::CpuFacts& facts) {
  std::string names;
  for (const std::string_view feature : kFeatures) {
    if (facts.has(feature)) names += (names.empty() ? "" : ", ") + std::string(feature);
  }
  return names.empty() ? "none that count" : names;
}

Json bytes_or_null(std::size_t bytes) {
  if (bytes == 0) return {};
  return std::uint64_t{bytes};
}

Json quota_or_null(double cores) {
  if (cores <= 0) return {};
  return cores;
}

std::string line(std::string_view name, std::string_view value) {
  std::string left(name);
  left.resize(20, ' ');
  return left + std::string(value) + "\n";
}

std::string decimal(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g", value);
  return text.data();
}

}  // namespace

MachineFacts machine_facts() {
  return {.processor = base::cpu_facts(),
          .memory = base::memory_facts(),
          .limits = base::process_limits(),
          .kernels = base::chosen_instruction_set()};
}

Json to_json(const MachineFacts& facts) {
  const base::CpuFacts& cpu = facts.processor;
  Json::Array features;
  for (const std::string& feature : cpu.features) features.emplace_back(feature);
  Json::Object processor = {{"name", cpu.brand},
                            {"platform", base::platform()},
                            {"logical_cores", std::uint64_t{cpu.logical_cores}},
                            {"physical_cores", std::uint64_t{cpu.physical_cores}},
                            {"usable_cores", std::uint64_t{cpu.usable_cores}},
                            {"quota_cores", quota_or_null(cpu.quota_cores)},
                            {"instruction_set", base::to_string(facts.kernels)},
                            {"features", std::move(features)},
                            {"l1d_bytes", bytes_or_null(cpu.l1d_bytes)},
                            {"l2_bytes", bytes_or_null(cpu.l2_bytes)},
                            {"l3_bytes", bytes_or_null(cpu.l3_bytes)}};
  Json::Object memory = {{"total_bytes", std::uint64_t{facts.memory.total_bytes}},
                         {"available_bytes", std::uint64_t{facts.memory.available_bytes}},
                         {"cgroup_limit_bytes", bytes_or_null(facts.memory.limit_bytes)},
                         {"process_limit_bytes", bytes_or_null(facts.limits.limit_bytes)}};
  return Json::Object{{"processor", std::move(processor)}, {"memory", std::move(memory)}};
}

std::string facts_listing(const MachineFacts& facts) {
  const base::CpuFacts& cpu = facts.processor;
  std::string cores = std::to_string(cpu.usable_cores) + " cores usable of " + std::to_string(cpu.logical_cores);
  if (cpu.quota_cores > 0) cores += ", a quota of " + decimal(cpu.quota_cores);
  std::string text = line("processor", (cpu.brand.empty() ? std::string(base::platform()) : cpu.brand) + ", " + cores);
  text += line("instructions", listed_features(cpu) + "; kernels of " + std::string(base::to_string(facts.kernels)));
  std::string caches;
  for (const auto& [name, bytes] :
       {std::pair{"L1d ", cpu.l1d_bytes}, std::pair{"L2 ", cpu.l2_bytes}, std::pair{"L3 ", cpu.l3_bytes}}) {
    if (bytes > 0) caches += (caches.empty() ? "" : ", ") + std::string(name) + human_bytes(bytes);
  }
  if (!caches.empty()) text += line("caches", caches);
  text += line("memory",
               human_bytes(facts.memory.available_bytes) + " available of " + human_bytes(facts.memory.total_bytes));
  std::string limits;
  if (facts.memory.limit_bytes > 0) limits = human_bytes(facts.memory.limit_bytes) + " by the control group";
  if (facts.limits.limit_bytes > 0)
    limits += (limits.empty() ? "" : ", ") + human_bytes(facts.limits.limit_bytes) + " by the process's limits";
  text += line("memory limits", limits.empty() ? "none" : limits);
  return text;
}

}  // namespace alate::machine
