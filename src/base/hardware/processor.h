// What the processor says about itself; one source file an architecture.
#pragma once

#include <string>
#include <vector>

#include "base/hardware/cpu_facts.h"

namespace alate::base {

struct Processor {
  std::string brand;                  // empty where the processor does not tell
  std::vector<std::string> features;  // only those that the operating system lets programs use
  InstructionSet best = InstructionSet::scalar;
};

Processor read_processor();

}  // namespace alate::base
