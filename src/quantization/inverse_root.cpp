// With J the matrix that reverses the order of rows, J H J = L Lᵀ gives H⁻¹ = UᵀU for U = J L⁻¹ J, which is upper
// triangular: this takes a Cholesky factor and a triangular inverse, but no inverse of H itself.
#include "quantization/inverse_root.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "alate/error.h"
#include "base/threads/thread_pool.h"

namespace alate::quantization {
namespace {

constexpr std::size_t kBlock = 64;       // columns eliminated at a time
constexpr std::size_t kRowsAtOnce = 16;  // for each thread
constexpr std::size_t kColumnsAtOnce = 96;

void over_parts(std::size_t count, std::size_t part, const auto& each) {
  base::ThreadPool::shared().parallel_for((count + part - 1) / part, 0, [&](std::size_t i, std::size_t) {
    each(i * part, std::min(count, (i + 1) * part));
  });
}

// to[i] -= Σ_p factors[p] · rows[p][i]; rows of `stride` numbers.
void subtract_rows(const double* factors, const double* rows, std::size_t count, std::size_t stride, double* to,
                   std::size_t width) {
  std::size_t p = 0;
  for (; p + 4 <= count; p += 4) {
    const double a = factors[p], b = factors[p + 1], c = factors[p + 2], d = factors[p + 3];
    const double *x = rows + p * stride, *y = x + stride, *z = y + stride, *w = z + stride;
    for (std::size_t i = 0; i < width; ++i) to[i] -= (a * x[i] + b * y[i]) + (c * z[i] + d * w[i]);
  }
  for (; p < count; ++p) {
    const double a = factors[p], *x = rows + p * stride;
    for (std::size_t i = 0; i < width; ++i) to[i] -= a * x[i];
  }
}

// Solves rows [begin, end) of L's columns [first, last); the diagonal block is finished for rows before `begin`.
void solve_rows(double* a, std::size_t n, std::size_t first, std::size_t last, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) {
    double* row = a + i * n;
    for (std::size_t j = first; j < std::min(last, i + 1); ++j) {
      const double* other = a + j * n;
      double sum = row[j];
      for (std::size_t p = first; p < j; ++p) sum -= row[p] * other[p];
      if (i == j) {
        if (!(sum > 0))
          throw make_error(ErrorCode::invalid_argument, "a matrix of ", n, " rows is not positive definite");
        row[j] = std::sqrt(sum);
      } else {
        row[j] = sum / other[j];
      }
    }
  }
}

// L of A = L Lᵀ in the lower triangle, block column by block column.
void cholesky(double* a, std::size_t n) {
  std::vector<double> panel(kBlock * n);  // the block column, transposed
  for (std::size_t first = 0; first < n; first += kBlock) {
    const std::size_t last = std::min(n, first + kBlock), width = last - first;
    solve_rows(a, n, first, last, first, last);
    over_parts(n - last, kRowsAtOnce, [&](std::size_t begin, std::size_t end) {
      solve_rows(a, n, first, last, last + begin, last + end);
      for (std::size_t i = last + begin; i < last + end; ++i) {
        for (std::size_t p = 0; p < width; ++p) panel[p * n + i] = a[i * n + first + p];
      }
    });
    over_parts(n - last, kRowsAtOnce, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = last + begin; i < last + end; ++i)
        subtract_rows(a + i * n + first, panel.data() + last, width, n, a + i * n + last, i + 1 - last);
    });
  }
}

// The inverse of lower triangular L, some columns at a time: row i is (e_i - Σ_p L_ip row_p) / L_ii.
std::vector<double> inverse_of_lower(const double* lower, std::size_t n) {
  std::vector<double> inverse(n * n);
  over_parts(n, kColumnsAtOnce, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < n; ++i) {
      double* row = inverse.data() + i * n;
      if (i < end) row[i] = 1;
      subtract_rows(lower + i * n + begin, inverse.data() + begin * n + begin, i - begin, n, row + begin, end - begin);
      for (std::size_t j = begin; j < end; ++j) row[j] /= lower[i * n + i];
    }
  });
  return inverse;
}

}  // namespace

void inverse_root(std::span<double> matrix, std::size_t n) {
  std::vector<double> reversed(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    // Only the lower triangle is read: its mirror is what the reversal needs.
    for (std::size_t j = 0; j <= i; ++j) reversed[(n - 1 - j) * n + (n - 1 - i)] = matrix[i * n + j];
  }
  cholesky(reversed.data(), n);
  const std::vector<double> inverse = inverse_of_lower(reversed.data(), n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) matrix[i * n + j] = j < i ? 0 : inverse[(n - 1 - i) * n + (n - 1 - j)];
  }
}

}  // namespace alate::quantization
