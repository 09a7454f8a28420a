#include "backends/cpu/kernels/dispatch/absent/absent.h"
#include "backends/cpu/kernels/dispatch/dispatch.h"

namespace alate::cpu {

GemmKernel bytes_gemm_amx_int8();

GemmKernel bytes_gemm_amx_int8() { refuse_absent("amx_int8"); }

}  // namespace alate::cpu
