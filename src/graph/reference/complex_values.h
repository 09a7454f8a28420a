// Complex elements as pairs of doubles.
#pragma once

#include <complex>
#include <vector>

#include "alate/tensor.h"

namespace alate::graph {

/// Every element of a c64 or c128 tensor, exactly.
std::vector<std::complex<double>> load_complex(const Tensor& tensor);
/// A complex tensor with each part rounded once to its dtype.
Tensor store_complex(const Shape& shape, const std::vector<std::complex<double>>& values);

}  // namespace alate::graph
