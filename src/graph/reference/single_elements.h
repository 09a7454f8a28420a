// Access to single elements of any dtype.
#pragma once

#include <cstdint>

#include "alate/tensor.h"

namespace alate::graph {

/// Copies element `from_place` of a tensor to `to_place` of another of the same dtype, packed or not.
void copy_element(Tensor& to, std::int64_t to_place, const Tensor& from, std::int64_t from_place);

/// The element as a scalar.
Tensor element_of(const Tensor& tensor, std::int64_t place);

}  // namespace alate::graph
