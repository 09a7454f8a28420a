// What the machine is: processor and memory, in lines and as JSON.
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
  base::InstructionSet kernels = base::InstructionSet::scalar;  // that Alate's own kernels use
};

/// The facts of now.
MachineFacts machine_facts();

/// {"processor": {"name", "platform", "logical_cores", "physical_cores", "usable_cores", "quota_cores",
/// "instruction_set", "features", "l1d_bytes", "l2_bytes", "l3_bytes"}, "memory": {"total_bytes", "available_bytes",
/// "cgroup_limit_bytes", "process_limit_bytes"}}; limits that are not there are null.
formats::Json to_json(const MachineFacts& facts);
/// Lines of a name and what it is: "processor", "instructions", "caches", "memory", "limits".
std::string facts_listing(const MachineFacts& facts);

}  // namespace alate::machine
