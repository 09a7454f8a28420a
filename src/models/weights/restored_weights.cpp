#include "models/weights/restored_weights.h"

#include <numeric>
#include <utility>

#include "alate/error.h"

namespace alate::models {

graph::ConstantPtr with_halves(graph::ConstantPtr rows, std::int64_t paired_heads, const std::string& stored) {
  if (paired_heads == 0) return rows;
  const Shape shape = rows->shape;
  const std::int64_t count = shape.dims.empty() ? 1 : shape.dims.front().number();
  if (paired_heads < 0 || count % (2 * paired_heads) != 0)
    throw make_error(ErrorCode::corrupt, "weight '", stored, "' has ", count, " rows, which do not divide into ",
                     paired_heads, " heads of pairs");
  const std::int64_t half = count / paired_heads / 2;
  graph::Dims paired = {paired_heads, half, 2}, halved = {paired_heads, 2, half};
  for (std::size_t i = 1; i < shape.dims.size(); ++i) {
    paired.push_back(shape.dims[i]);
    halved.push_back(shape.dims[i]);
  }
  graph::Numbers permutation(paired.size());
  std::iota(permutation.begin(), permutation.end(), std::int64_t{0});
  std::swap(permutation[1], permutation[2]);
  const Shape in_pairs{shape.dtype, paired}, in_halves{shape.dtype, halved};
  graph::ConstantPtr split =
      graph::make_constant(graph::Op::reshape, graph::Reshape{.dims = std::move(paired)}, in_pairs, {std::move(rows)});
  graph::ConstantPtr moved = graph::make_constant(
      graph::Op::transpose, graph::Permutation{.permutation = std::move(permutation)}, in_halves, {std::move(split)});
  return graph::make_constant(graph::Op::reshape, graph::Reshape{.dims = shape.dims}, shape, {std::move(moved)});
}

graph::ConstantPtr without_one(graph::ConstantPtr floats) {
  const Shape shape = floats->shape;
  graph::ConstantPtr one =
      graph::make_constant(graph::Op::broadcast_in_dim, graph::BroadcastInDim{.dims = shape.dims, .mapping = {}}, shape,
                           {graph::make_constant("one", Tensor::from<float>({}, {1.0F}))});
  return graph::make_constant(graph::Op::sub, graph::NoAttributes(), shape, {std::move(floats), std::move(one)});
}

}  // namespace alate::models
