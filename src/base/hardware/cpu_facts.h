// CPU facts, and the share of the CPU that this process may use.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace alate::base {

/// Instruction sets with kernels, weakest first: `scalar` is the architecture's baseline, neon is for AArch64, the
/// others for x86-64. Each includes the ones before it on its architecture.
enum class InstructionSet { scalar, neon, avx2, avx512 };

std::string_view to_string(InstructionSet set);

struct CpuFacts {
  std::string brand;  // "AMD EPYC 9B14", as the processor reports it
  std::vector<std::string>
      features;  // lower case: "avx2", "fma", "f16c", "avx512f", "avx512_vnni", "avx512_bf16", "amx_int8" ...
  std::size_t logical_cores = 1;   // online in the machine
  std::size_t affinity_cores = 1;  // allowed by this process's affinity mask
  std::size_t physical_cores = 1;  // distinct cores among those (hyperthreads counted once)
  double quota_cores = 0;          // cgroup v1/v2 CPU quota in cores; 0 when unlimited
  std::size_t usable_cores = 1;  // threads for a pool: physical cores within affinity, capped by the quota (rounded up)
  std::size_t l1d_bytes = 0, l2_bytes = 0, l3_bytes = 0;  // as one core sees them; 0 when unknown
  InstructionSet best = InstructionSet::scalar;  // best set that processor, operating system and this build support

  bool has(std::string_view feature) const;
};

/// Read once, at first use; thread-safe.
const CpuFacts& cpu_facts();

/// Reads the facts from this machine's operating system; `cpu_facts()` caches them.
CpuFacts read_cpu_facts();

/// Reads the facts from `root`/proc and `root`/sys; brand, features and `best` come from the processor itself (the
/// brand from `root`/proc/cpuinfo where it has one). Never throws for missing or malformed files.
CpuFacts read_cpu_facts(const std::filesystem::path& root);

/// Whether this build has kernels of the set and this processor can run them.
bool can_run(InstructionSet set);

/// All sets that can run, weakest first.
std::vector<InstructionSet> runnable_instruction_sets();

/// `cpu_facts().best`, lowered by the environment variable ALATE_ISA: the name of a set, followed by extensions to
/// exclude or require, as in "avx512-avx512_vnni" and "avx512+amx_bf16". Throws invalid_argument for an unknown name,
/// unsupported for a set or extension that this processor or build lacks.
InstructionSet chosen_instruction_set();

/// Whether kernels of the chosen set may use an extension, named as in CpuFacts::features: processor and build
/// have it and ALATE_ISA does not exclude it. Throws as chosen_instruction_set().
bool uses_extension(std::string_view name);

/// Whether ALATE_ISA requires the extension. Throws as chosen_instruction_set().
bool requires_extension(std::string_view name);

struct MemoryFacts {
  std::size_t total_bytes = 0;      // of the machine
  std::size_t available_bytes = 0;  // the smaller of MemAvailable and the room within cgroup limits
  std::size_t limit_bytes = 0;      // tightest cgroup limit (v1 or v2, of all parents); 0 when none is below the total
};

/// Reads the facts again at each call.
MemoryFacts memory_facts();

/// Reads the facts from `root`/proc and `root`/sys; zeros for missing values.
MemoryFacts read_memory_facts(const std::filesystem::path& root);

}  // namespace alate::base
