// How near vectors of texts are to each other, as sentence-transformers' `similarity` computes it.
#pragma once

#include <optional>
#include <string_view>

#include "alate/tensor.h"

namespace alate {

/// The cosine of the angle, the dot product, or the negative of a distance: the larger, the nearer.
enum class Similarity { cosine, dot, euclidean, manhattan };
std::string_view to_string(Similarity similarity);
/// The inverse, also for "dot_product"; nothing for an unknown name.
std::optional<Similarity> parse_similarity(std::string_view name);

/// Of each vector of `a`, f32 [m, dimensions], to each of `b`, f32 [n, dimensions]: f32 [m, n]. A vector of zeros has
/// the cosine 0 to all. Throws invalid_argument for other shapes and dtypes.
Tensor similarities(const Tensor& a, const Tensor& b, Similarity similarity = Similarity::cosine);

}  // namespace alate
