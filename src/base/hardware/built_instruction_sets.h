// The instruction sets that this build has kernels for.
#pragma once

#include <string_view>

namespace alate::base {

/// Sets and their extensions, weakest first, named as InstructionSet and as the processor's features:
/// "scalar, avx512, avx512_vnni". Chosen by ALATE_INSTRUCTION_SETS when the build is configured.
std::string_view built_instruction_sets();

/// Whether that list has `name`.
bool is_built(std::string_view name);

}  // namespace alate::base
