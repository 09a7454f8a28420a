// Bools of files may be any byte; in memory each is 0 or 1.
#pragma once

#include "alate/tensor.h"

namespace alate::formats {

/// The tensor itself unless it is of bools and a byte of it is neither 0 nor 1: then a copy in which such a byte is 1.
Tensor with_proper_bools(Tensor tensor);

}  // namespace alate::formats
