#include <windows.h>

#include <algorithm>
#include <bit>
#include <cstdint>

#include "base/threads/thread_pinning.h"

namespace alate::base {

std::vector<std::size_t> processors_of_cores() {
  DWORD_PTR allowed = 0;
  DWORD_PTR system = 0;
  if (::GetProcessAffinityMask(::GetCurrentProcess(), &allowed, &system) == 0) return {};
  DWORD bytes = 0;
  ::GetLogicalProcessorInformation(nullptr, &bytes);
  std::vector<SYSTEM_LOGICAL_PROCESSOR_INFORMATION> relations(bytes / sizeof(SYSTEM_LOGICAL_PROCESSOR_INFORMATION));
  if (relations.empty() || ::GetLogicalProcessorInformation(relations.data(), &bytes) == 0) return {};
  std::vector<std::size_t> processors;
  for (const SYSTEM_LOGICAL_PROCESSOR_INFORMATION& relation : relations) {
    const std::uint64_t usable = relation.ProcessorMask & allowed;
    if (relation.Relationship == RelationProcessorCore && usable != 0)
      processors.push_back(static_cast<std::size_t>(std::countr_zero(usable)));
  }
  std::ranges::sort(processors);
  return processors;
}

bool pin_this_thread(std::size_t processor) {
  if (processor >= 64) return false;
  return ::SetThreadAffinityMask(::GetCurrentThread(), static_cast<DWORD_PTR>(std::uint64_t{1} << processor)) != 0;
}

}  // namespace alate::base
