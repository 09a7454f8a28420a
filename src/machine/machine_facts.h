// Machine facts: processor, memory and limits, as text and as JSON.
#pragma once

#include <string>

#include "base/hardware/cpu_facts.h"
#include "base/os/process_limits.h"
#include "formats/json.h"

namespace alate::machine {

struct MachineFacts {
  base::CpuFacts processor;
  base::MemoryFacts memory;
  base::ProcessLimits limits;
  base::InstructionSet kernels = base::InstructionSet::scalar;  // used by Alate's own kernels
};

/// The current facts.
MachineFacts machine_facts();

/// {"processor": {"name", "platform", "logical_cores", "physical_cores", "usable_cores", "quota_cores",
/// "instruction_set", "features", "l1d_bytes", "l2_bytes", "l3_bytes"}, "memory": {"total_bytes", "available_bytes",
/// "cgroup_limit_bytes", "process_limit_bytes"}}; absent limits are null.
formats::Json to_json(const MachineFacts& facts);
/// Lines of a name and its value: "processor", "instructions", "caches", "memory", "limits".
std::string facts_listing(const MachineFacts& facts);

}  // namespace alate::machine
