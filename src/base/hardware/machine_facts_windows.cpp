#include <windows.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include "base/hardware/cpu_facts.h"
#include "base/hardware/processor.h"

namespace alate::base {
namespace {

// Bit mask of the processors in this process's group that it may run on. A group has at most 64; a process is in one.
std::uint64_t allowed_processors() {
  DWORD_PTR process = 0;
  DWORD_PTR system = 0;
  return ::GetProcessAffinityMask(::GetCurrentProcess(), &process, &system) != 0 ? process : 0;
}

std::vector<SYSTEM_LOGICAL_PROCESSOR_INFORMATION> read_relations() {
  DWORD bytes = 0;
  ::GetLogicalProcessorInformation(nullptr, &bytes);
  std::vector<SYSTEM_LOGICAL_PROCESSOR_INFORMATION> relations(bytes / sizeof(SYSTEM_LOGICAL_PROCESSOR_INFORMATION));
  if (relations.empty() || ::GetLogicalProcessorInformation(relations.data(), &bytes) == 0) return {};
  return relations;
}

void note_cache(const CACHE_DESCRIPTOR& cache, CpuFacts& facts) {
  if (cache.Type == CacheInstruction || cache.Type == CacheTrace) return;
  switch (cache.Level) {
    case 1: facts.l1d_bytes = cache.Size; break;
    case 2: facts.l2_bytes = cache.Size; break;
    case 3: facts.l3_bytes = cache.Size; break;
    default: break;
  }
}

}  // namespace

CpuFacts read_cpu_facts() {
  Processor processor = read_processor();
  CpuFacts facts;
  facts.brand = std::move(processor.brand);
  facts.features = std::move(processor.features);
  facts.best = processor.best;
  facts.logical_cores = std::max(1U, std::thread::hardware_concurrency());
  const std::uint64_t allowed = allowed_processors();
  facts.affinity_cores = allowed != 0 ? static_cast<std::size_t>(std::popcount(allowed)) : facts.logical_cores;
  std::size_t cores = 0;
  for (const SYSTEM_LOGICAL_PROCESSOR_INFORMATION& relation : read_relations()) {
    if (allowed != 0 && (relation.ProcessorMask & allowed) == 0) continue;
    if (relation.Relationship == RelationProcessorCore) ++cores;
    if (relation.Relationship == RelationCache) note_cache(relation.Cache, facts);
  }
  facts.physical_cores = cores != 0 ? std::min(cores, facts.affinity_cores) : facts.affinity_cores;
  facts.usable_cores = facts.physical_cores;
  return facts;
}

MemoryFacts memory_facts() {
  MEMORYSTATUSEX status{};
  status.dwLength = sizeof status;
  if (::GlobalMemoryStatusEx(&status) == 0) return {};
  MemoryFacts facts;
  facts.total_bytes = status.ullTotalPhys;
  facts.available_bytes = status.ullAvailPhys;
  // A job object's limit, as Windows containers have.
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION job{};
  if (::QueryInformationJobObject(nullptr, JobObjectExtendedLimitInformation, &job, sizeof job, nullptr) != 0 &&
      (job.BasicLimitInformation.LimitFlags & JOB_OBJECT_LIMIT_JOB_MEMORY) != 0 &&
      job.JobMemoryLimit < facts.total_bytes) {
    facts.limit_bytes = job.JobMemoryLimit;
    facts.available_bytes = std::min<std::size_t>(facts.available_bytes, job.JobMemoryLimit);
  }
  return facts;
}

}  // namespace alate::base
