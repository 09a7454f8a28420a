// Selection of an instruction set's kernels: what kernel headers need, without the table itself (dispatch.h). Each
// folder declares its part of the table, and a function that gives the part of a set.
#pragma once

#include "base/hardware/cpu_facts.h"

namespace alate::cpu {

struct Kernels;

/// The kernels of one instruction set, with those of its extensions that base::uses_extension allows. Thread-safe.
/// Throws unsupported when this processor or build lacks it, and what uses_extension throws.
const Kernels& kernels_for(base::InstructionSet set);

/// The kernels of a CPU with this set but none of its extensions for small integers and bf16: for tests.
Kernels kernels_without_extensions(base::InstructionSet set);

/// The set that a table was made for.
base::InstructionSet instruction_set(const Kernels& set);

/// The kernels of base::chosen_instruction_set(), chosen once. Thread-safe. Throws what that throws.
const Kernels& kernels();

}  // namespace alate::cpu
