#include "alate/error.h"
#include "backends/cpu/kernels/dispatch.h"

namespace alate::cpu {

void fill_vector_kernels(Kernels& kernels);

void fill_vector_kernels(Kernels& kernels) {
  throw make_error(ErrorCode::internal, "this processor family has no ", base::to_string(kernels.set), " kernels");
}

}  // namespace alate::cpu
