#include "alate/cancellation.h"

#include "alate/error.h"

namespace alate {

void Cancellation::throw_cancelled() { throw Error(ErrorCode::cancelled, "the run was cancelled"); }

}  // namespace alate
