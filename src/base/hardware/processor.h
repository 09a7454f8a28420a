// Brand and features as the processor reports them; one source file per architecture.
#pragma once

#include <string>
#include <vector>

#include "base/hardware/cpu_facts.h"

namespace alate::base {

struct Processor {
  std::string brand;                  // empty if the processor does not report it
  std::vector<std::string> features;  // only features enabled by the operating system
  InstructionSet best = InstructionSet::scalar;
};

Processor read_processor();

}  // namespace alate::base
