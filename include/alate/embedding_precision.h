// Embeddings in fewer bits, as sentence-transformers' quantize_embeddings makes them.
#pragma once

#include <optional>
#include <string_view>

#include "alate/tensor.h"

namespace alate {

/// The numbers of a vector. int8 and uint8 are one of 256 equal steps of a range, counted from -128 or 0; binary and
/// ubinary have a bit for each number, set where it is above 0, the first in the highest bit of a byte, and binary is
/// that byte less 128.
enum class Precision { float32, int8, uint8, binary, ubinary };
std::string_view to_string(Precision precision);
/// The inverse; nothing for an unknown name.
std::optional<Precision> parse_precision(std::string_view name);

/// The least and the largest of each number over vectors f32 [vectors, dimensions]: [2, dimensions]. Throws
/// invalid_argument for no vectors, another shape or dtype, and for numbers that are not finite.
Tensor embedding_ranges(const Tensor& vectors);

/// Vectors f32 [vectors, dimensions] in another precision: i8 or u8 [vectors, dimensions], or for bits [vectors,
/// dimensions / 8 rounded up]. `ranges`, f32 [2, dimensions], has the range of each number for int8 and uint8; absent:
/// -1 to 1, the range of vectors of length 1. Numbers outside get the nearest step, NaN the first. Throws
/// invalid_argument for other shapes and dtypes.
Tensor quantize_embeddings(const Tensor& vectors, Precision precision, const std::optional<Tensor>& ranges = {});

}  // namespace alate
