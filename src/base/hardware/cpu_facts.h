// What the processor is and how much of it this process may use.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace alate::base {

/// Instruction sets that the kernels know, weakest first: `scalar` is what every processor of the architecture has,
/// neon is for AArch64, the others for x86-64. Each includes the ones before it on its architecture.
enum class InstructionSet { scalar, neon, avx2, avx512 };

std::string_view to_string(InstructionSet set);

struct CpuFacts {
  std::string brand;  // "AMD EPYC 9B14", as the processor names itself
  std::vector<std::string>
      features;  // lower case: "avx2", "fma", "f16c", "avx512f", "avx512_vnni", "avx512_bf16", "amx_int8" ...
  std::size_t logical_cores = 1;   // online in the machine
  std::size_t affinity_cores = 1;  // that this process's affinity mask allows
  std::size_t physical_cores = 1;  // distinct cores among those (hyperthreads counted once)
  double quota_cores = 0;          // cgroup v1/v2 CPU quota in cores; 0 when unlimited
  std::size_t usable_cores = 1;  // what a pool should have: physical within affinity, capped by the quota (rounded up)
  std::size_t l1d_bytes = 0, l2_bytes = 0, l3_bytes = 0;  // of one core's view; 0 when unknown
  InstructionSet best = InstructionSet::scalar;  // best kernel set that processor and operating system both support

  bool has(std::string_view feature) const;
};

/// Read once, at first use; thread-safe.
const CpuFacts& cpu_facts();

/// What the operating system of this machine says; `cpu_facts()` keeps it.
CpuFacts read_cpu_facts();

/// The facts as `root`/proc and `root`/sys tell them; brand, features and `best` come from the processor itself
/// (the brand from `root`/proc/cpuinfo where it has one). Never throws for what is missing or malformed there.
CpuFacts read_cpu_facts(const std::filesystem::path& root);

/// Whether this processor runs kernels of the set.
bool can_run(InstructionSet set);

/// All that it runs, weakest first.
std::vector<InstructionSet> runnable_instruction_sets();

/// `cpu_facts().best`, lowered by the environment variable ALATE_ISA: the name of a set, behind it extensions to do
/// without, and extensions that must be there, as in "avx512-avx512_vnni" and "avx512+amx_bf16".
/// Throws invalid_argument for an unknown name and unsupported for what this processor lacks.
InstructionSet chosen_instruction_set();

/// Whether kernels of its set may use an extension, by its name in CpuFacts::features: the processor has it and
/// ALATE_ISA does not leave it out. Throws what chosen_instruction_set() throws.
bool uses_extension(std::string_view name);

/// Whether ALATE_ISA says that the extension must be there. Throws what chosen_instruction_set() throws.
bool asks_for_extension(std::string_view name);

struct MemoryFacts {
  std::size_t total_bytes = 0;      // of the machine
  std::size_t available_bytes = 0;  // the smaller of MemAvailable and what the cgroup limits leave
  std::size_t limit_bytes = 0;      // tightest cgroup limit (v1 or v2, of all parents); 0 when none is below the total
};

/// Read anew at each call.
MemoryFacts memory_facts();

/// The facts as `root`/proc and `root`/sys tell them; zeros for what is missing there.
MemoryFacts read_memory_facts(const std::filesystem::path& root);

}  // namespace alate::base
