#include "base/sha256_blocks.h"

namespace alate::base {

Sha256Blocks native_sha256_blocks() { return nullptr; }

}  // namespace alate::base
