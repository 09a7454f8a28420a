// Which instruction set's kernels run: the names that kernel headers need, without the table itself (dispatch.h).
#pragma once

#include "base/cpu_facts.h"

namespace alate::cpu {

struct Kernels;

/// The kernels of one instruction set. Thread-safe. Throws unsupported when this processor or build lacks it.
const Kernels& kernels_for(base::InstructionSet set);

/// The kernels of base::chosen_instruction_set(), chosen once. Thread-safe. Throws what that throws.
const Kernels& kernels();

}  // namespace alate::cpu
