#include "backends/cpu/kernels/dispatch/absent/absent.h"

#include "alate/error.h"

namespace alate::cpu {

void refuse_absent(std::string_view set) {
  throw make_error(ErrorCode::internal, "kernels of ", set, " were asked for, which this build does not have");
}

}  // namespace alate::cpu
