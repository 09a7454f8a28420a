#include "backends/cpu/kernels/dispatch/any_type.inl.h"

namespace alate::cpu {

void fill_any_type_scalar(SimdKernels& table) { HWY_NAMESPACE::fill_any_type(table); }

}  // namespace alate::cpu
