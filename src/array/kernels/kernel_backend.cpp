// Shape checks of the kernel interface, once for all backends.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>

#include "alate/error.h"
#include "alate/kernels.h"

namespace alate {
namespace {

template <typename View>
void require_matrix(std::string_view function, std::string_view argument, const View& matrix) {
  const bool overflows = matrix.columns != 0 && matrix.rows > SIZE_MAX / matrix.columns;
  if (overflows || matrix.values.size() != matrix.rows * matrix.columns)
    throw make_error(ErrorCode::invalid_argument, function, ": ", argument, " is said to be [", matrix.rows, ", ",
                     matrix.columns, "] but has ", matrix.values.size(), " values");
}

void require_size(std::string_view function, std::string_view argument, std::size_t found, std::size_t wanted,
                  std::string_view why) {
  if (found != wanted)
    throw make_error(ErrorCode::invalid_argument, function, ": ", argument, " has ", found, " values and must have ",
                     wanted, ", ", why);
}

void require_disjoint_entries(std::string_view function, std::span<const float> out, std::span<const float> in) {
  const std::less<const float*> before;
  if (!out.empty() && !in.empty() && before(out.data(), in.data() + in.size()) &&
      before(in.data(), out.data() + out.size()))
    throw make_error(ErrorCode::invalid_argument, function,
                     ": the result overlaps an argument; give it its own memory");
}

}  // namespace

void KernelBackend::matmul_vec_into(const MatrixView& w, std::span<const float> x, std::span<float> out) const {
  constexpr std::string_view kName = "matmul_vec";
  require_matrix(kName, "w", w);
  require_size(kName, "x", x.size(), w.columns, "w's columns");
  require_size(kName, "out", out.size(), w.rows, "w's rows");
  require_disjoint_entries(kName, out, w.values);
  require_disjoint_entries(kName, out, x);
  if (out.empty()) return;
  if (x.empty()) {
    std::ranges::fill(out, 0.0f);
    return;
  }
  run_matrix_vector(w, x, 1, out);
}

std::vector<float> KernelBackend::matmul_vec(const MatrixView& w, std::span<const float> x) const {
  require_matrix("matmul_vec", "w", w);  // before its size is used
  std::vector<float> out(w.rows);
  matmul_vec_into(w, x, out);
  return out;
}

std::vector<float> KernelBackend::matmul(const MatrixView& a, const MatrixView& b) const {
  constexpr std::string_view kName = "matmul";
  require_matrix(kName, "a", a);
  require_matrix(kName, "b", b);
  if (a.columns != b.rows)
    throw make_error(ErrorCode::invalid_argument, kName, ": b is [", b.rows, ", ", b.columns, "] and must have ",
                     a.columns, " rows, a's columns");
  if (b.columns != 0 && a.rows > std::vector<float>().max_size() / b.columns)
    throw make_error(ErrorCode::resource_exhausted, kName, ": the product has too many values");
  std::vector<float> out(a.rows * b.columns);
  if (!out.empty() && a.columns != 0) run_matmul(a, b, out);
  return out;
}

void KernelBackend::rmsnorm(std::span<float> x, std::span<const float> weight, float epsilon) const {
  require_size("rmsnorm", "weight", weight.size(), x.size(), "one for each of x");
  require_disjoint_entries("rmsnorm", x, weight);
  if (!x.empty()) run_rmsnorm(x, weight, epsilon);
}

void KernelBackend::softmax(std::span<float> x) const {
  if (!x.empty()) run_softmax(x);
}

void KernelBackend::softmax_view(const VectorView& x) const {
  if (x.size == 0) return;
  if (x.first == nullptr || x.stride == 0)
    throw make_error(ErrorCode::invalid_argument, "softmax_view: x has ", x.size, " values and ",
                     x.first == nullptr ? "no first one" : "a stride of 0");
  if (x.stride == 1) return run_softmax({x.first, x.size});
  std::vector<float> values(x.size);
  for (std::size_t i = 0; i < x.size; ++i) values[i] = x.first[i * x.stride];
  run_softmax(values);
  for (std::size_t i = 0; i < x.size; ++i) x.first[i * x.stride] = values[i];
}

std::vector<float> KernelBackend::silu(std::span<const float> x) const {
  std::vector<float> out(x.size());
  if (!x.empty()) run_silu(x, out);
  return out;
}

void KernelBackend::apply_rope(const MutableMatrixView& x, std::span<const float> cosines,
                               std::span<const float> sines) const {
  constexpr std::string_view kName = "apply_rope";
  require_matrix(kName, "x", x);
  if (x.columns % 2 != 0)
    throw make_error(ErrorCode::invalid_argument, kName, ": x has heads of ", x.columns, " values, which are no pairs");
  require_size(kName, "cosines", cosines.size(), x.columns / 2, "one for each pair of a head");
  require_size(kName, "sines", sines.size(), x.columns / 2, "one for each pair of a head");
  require_disjoint_entries(kName, x.values, cosines);
  require_disjoint_entries(kName, x.values, sines);
  if (!x.values.empty()) run_rope(x, cosines, sines);
}

void KernelBackend::compute_attention_scores(std::span<const float> query, const MatrixView& keys,
                                             std::span<float> scores, float scale) const {
  constexpr std::string_view kName = "compute_attention_scores";
  require_matrix(kName, "keys", keys);
  require_size(kName, "query", query.size(), keys.columns, "the width of keys");
  require_size(kName, "scores", scores.size(), keys.rows, "one for each key");
  require_disjoint_entries(kName, scores, keys.values);
  require_disjoint_entries(kName, scores, query);
  if (scores.empty()) return;
  if (query.empty()) {
    std::ranges::fill(scores, 0.0f);
    return;
  }
  run_matrix_vector(keys, query, scale, scores);
}

void KernelBackend::weighted_sum_rows(std::span<const float> weights, const MatrixView& matrix,
                                      std::span<float> out) const {
  constexpr std::string_view kName = "weighted_sum_rows";
  require_matrix(kName, "matrix", matrix);
  require_size(kName, "weights", weights.size(), matrix.rows, "one for each row");
  require_size(kName, "out", out.size(), matrix.columns, "one for each column");
  require_disjoint_entries(kName, out, matrix.values);
  require_disjoint_entries(kName, out, weights);
  if (out.empty()) return;
  if (weights.empty()) {
    std::ranges::fill(out, 0.0f);
    return;
  }
  run_vector_matrix(weights, matrix, out);
}

}  // namespace alate
