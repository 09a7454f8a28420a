// What stands for the kernels of an instruction set that this build leaves out (ALATE_INSTRUCTION_SETS), so that the
// tables of dispatch_x86.cpp link. base::can_run and base::uses_extension say no to it, so none of this is called.
#pragma once

#include <string_view>

namespace alate::cpu {

/// Throws internal, naming the set.
[[noreturn]] void refuse_absent(std::string_view set);

}  // namespace alate::cpu
