#include "base/hardware/matrix_tiles.h"

namespace alate::base {

// Windows gives them unasked where it knows them, but nobody has tried these kernels there.
bool request_matrix_tiles() { return false; }

}  // namespace alate::base
