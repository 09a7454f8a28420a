// Normalization of bools, which may be any byte in files, but are 0 or 1 in memory.
#pragma once

#include "alate/tensor.h"

namespace alate::formats {

/// The tensor itself, or, if it has bool bytes other than 0 and 1, a copy with these bytes set to 1.
Tensor with_proper_bools(Tensor tensor);

}  // namespace alate::formats
