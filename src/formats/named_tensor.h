// A tensor with its name in a file.
#pragma once

#include <string>

#include "alate/tensor.h"

namespace alate::formats {

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

}  // namespace alate::formats
