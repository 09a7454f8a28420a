#include "base/threads/cancellation.h"

#include "alate/error.h"

namespace alate::base {

void Cancellation::throw_cancelled() { throw Error(ErrorCode::cancelled, "the run was cancelled"); }

}  // namespace alate::base
