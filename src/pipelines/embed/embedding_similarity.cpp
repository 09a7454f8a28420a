#include "alate/embedding_similarity.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "alate/error.h"

namespace alate {
namespace {

// In the order of the enum.
constexpr std::array<std::string_view, 4> kNames = {"cosine", "dot", "euclidean", "manhattan"};

void require_vectors(const Tensor& vectors, std::string_view which) {
  if (vectors.dtype() == DType::f32 && vectors.shape().dims.size() == 2) return;
  throw make_error(ErrorCode::invalid_argument, which, " has ", to_string(vectors.shape()),
                   " numbers; similarities are of f32 [vectors, dimensions]");
}

double dot(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += double{a[i]} * double{b[i]};
  return sum;
}

// torch.nn.functional.normalize divides by no less.
double length(std::span<const float> a) { return std::max(std::sqrt(dot(a, a)), 1e-12); }

double similarity_of(std::span<const float> a, std::span<const float> b, Similarity similarity) {
  double sum = 0;
  switch (similarity) {
    case Similarity::cosine: return dot(a, b) / (length(a) * length(b));
    case Similarity::dot: return dot(a, b);
    case Similarity::euclidean:
      for (std::size_t i = 0; i < a.size(); ++i) sum += (double{a[i]} - double{b[i]}) * (double{a[i]} - double{b[i]});
      return -std::sqrt(sum);
    case Similarity::manhattan:
      for (std::size_t i = 0; i < a.size(); ++i) sum += std::abs(double{a[i]} - double{b[i]});
      return -sum;
  }
  throw Error(ErrorCode::internal, "unknown similarity");
}

}  // namespace

std::string_view to_string(Similarity similarity) { return kNames.at(static_cast<std::size_t>(similarity)); }

std::optional<Similarity> parse_similarity(std::string_view name) {
  if (name == "dot_product") return Similarity::dot;
  const auto* const found = std::ranges::find(kNames, name);
  return found == kNames.end() ? std::nullopt : std::optional(static_cast<Similarity>(found - kNames.begin()));
}

Tensor similarities(const Tensor& a, const Tensor& b, Similarity similarity) {
  require_vectors(a, "a");
  require_vectors(b, "b");
  if (a.extent(1) != b.extent(1))
    throw make_error(ErrorCode::invalid_argument, "the vectors have ", a.extent(1), " and ", b.extent(1), " numbers");
  Tensor result = Tensor::zeros({DType::f32, {a.extent(0), b.extent(0)}});
  const auto width = static_cast<std::size_t>(a.extent(1)), columns = static_cast<std::size_t>(b.extent(0));
  const std::span<float> out = result.mutable_values<float>();
  for (std::size_t i = 0; i < static_cast<std::size_t>(a.extent(0)); ++i) {
    for (std::size_t j = 0; j < columns; ++j)
      out[i * columns + j] = static_cast<float>(similarity_of(a.values<float>().subspan(i * width, width),
                                                              b.values<float>().subspan(j * width, width), similarity));
  }
  return result;
}

}  // namespace alate
