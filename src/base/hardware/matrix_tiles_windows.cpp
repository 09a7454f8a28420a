#include "base/hardware/matrix_tiles.h"

namespace alate::base {

// Windows versions that support AMX enable it without a request, but these kernels are untested there.
bool request_matrix_tiles() { return false; }

}  // namespace alate::base
