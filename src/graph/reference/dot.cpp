#include <algorithm>
#include <span>

#include "graph/reference/call.h"
#include "graph/reference/matmul.h"
#include "graph/reference/strided.h"
#include "graph/reference/values.h"
#include "tensor/packed.h"

namespace alate::graph {
namespace {

// The axes that neither list has, in order.
Numbers free_axes(std::size_t rank, const Numbers& batch, const Numbers& contracting) {
  Numbers free;
  for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(rank); ++axis) {
    if (std::count(batch.begin(), batch.end(), axis) + std::count(contracting.begin(), contracting.end(), axis) == 0)
      free.push_back(axis);
  }
  return free;
}

std::int64_t extent_over(const Tensor& x, const Numbers& axes) {
  std::int64_t extent = 1;
  for (const std::int64_t axis : axes) extent *= x.extent(static_cast<std::size_t>(axis));
  return extent;
}

Tensor arranged(const Tensor& x, const Numbers& first, const Numbers& second, const Numbers& third) {
  Numbers order = first;
  order.insert(order.end(), second.begin(), second.end());
  order.insert(order.end(), third.begin(), third.end());
  return transposed(x, order);
}

// [batch, rows, inner] times [batch, inner, columns], all dense.
template <typename Number>
std::vector<Number> multiply(std::int64_t batch, const MatmulSizes& sizes, const std::vector<Number>& lhs,
                             const std::vector<Number>& rhs) {
  const auto left = static_cast<std::size_t>(sizes.rows * sizes.inner),
             right = static_cast<std::size_t>(sizes.inner * sizes.columns),
             out = static_cast<std::size_t>(sizes.rows * sizes.columns);
  std::vector<Number> result(static_cast<std::size_t>(batch) * out, 0);
  for (std::size_t i = 0; i < static_cast<std::size_t>(batch) && out > 0; ++i)
    matmul<Number>(sizes, std::span(lhs).subspan(i * left, left), std::span(rhs).subspan(i * right, right),
                   std::span(result).subspan(i * out, out));
  return result;
}

}  // namespace

Tensor reference_dot_general(const ReferenceCall& call) {
  const DotGeneral& dot = call.as<DotGeneral>();
  const Tensor lhs = tensor::unpacked(call.operand(0)), rhs = tensor::unpacked(call.operand(1));
  const Numbers rows = free_axes(lhs.rank(), dot.lhs_batch, dot.lhs_contracting),
                columns = free_axes(rhs.rank(), dot.rhs_batch, dot.rhs_contracting);
  const Tensor left = arranged(lhs, dot.lhs_batch, rows, dot.lhs_contracting),
               right = arranged(rhs, dot.rhs_batch, dot.rhs_contracting, columns);
  const std::int64_t batch = extent_over(lhs, dot.lhs_batch);
  const MatmulSizes sizes{extent_over(lhs, rows), extent_over(lhs, dot.lhs_contracting), extent_over(rhs, columns)};
  if (is_float(lhs.dtype()))
    return store_floats(call.shape(), multiply(batch, sizes, load_floats(left), load_floats(right)));
  if (is_complex(lhs.dtype()))
    return store_complex(call.shape(), multiply(batch, sizes, load_complex(left), load_complex(right)));
  return store_words(call.shape(), multiply(batch, sizes, load_words(left), load_words(right)));
}

}  // namespace alate::graph
