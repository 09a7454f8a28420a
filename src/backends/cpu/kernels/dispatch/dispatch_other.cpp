#include "alate/error.h"
#include "backends/cpu/kernels/dispatch/dispatch.h"

namespace alate::cpu {

void fill_vector_kernels(Kernels& kernels, bool with_extensions);

void fill_vector_kernels(Kernels& kernels, bool /*with_extensions*/) {
  throw make_error(ErrorCode::internal, "this processor family has no ", base::to_string(kernels.set), " kernels");
}

}  // namespace alate::cpu
