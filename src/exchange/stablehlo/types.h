// Types, attributes and literals in MLIR's text form.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "alate/tensor.h"

namespace alate::exchange {

/// "f32", "ui8", "complex<f32>"; empty for a dtype that StableHLO does not have.
std::string_view element_type(DType dtype);
/// "tensor<2x3xf32>" of a static shape.
std::string tensor_type(const Shape& shape);
/// "(tensor<f32>, tensor<i1>)".
std::string tensor_types(std::span<const Shape> shapes);

/// "dense<[[1, 2], [3, 4]]>", or "dense<1>" where all elements are the same. Floats are written as their bits.
std::string literal(const Tensor& tensor);

/// "[1, 2]"
std::string list(std::span<const std::int64_t> numbers);
/// "array<i64: 1, 2>"
std::string array_attribute(std::span<const std::int64_t> numbers);
/// "dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>", a row for each pair of `low` and `high`.
std::string pairs_attribute(std::span<const std::int64_t> low, std::span<const std::int64_t> high);

/// The extents of a static shape.
std::vector<std::int64_t> extents_of(const Shape& shape);
/// A static shape.
Shape shape_of(DType dtype, std::span<const std::int64_t> extents);

}  // namespace alate::exchange
