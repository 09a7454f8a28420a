#include "graph/projections.h"

#include <cmath>

#include "alate/error.h"
#include "graph/operands.h"

namespace alate::graph {

QueryKeyValue project_qkv(Builder& b, Value x, Value weight, std::optional<Value> bias, const HeadSizes& sizes) {
  const DenseOperands<> product{.x = x, .weight = weight, .bias = bias};
  const Value whole = b.dense(product.list(), product.flagged({}));
  const Dims dims = b.shape(whole).dims;
  std::int64_t next = 0;
  const auto cut = [&](std::int64_t heads, std::int64_t width) {
    Slice slice{.starts = Dims(dims.size(), 0), .limits = dims, .strides = {}};
    slice.starts.back() = next;
    next += heads * width;
    slice.limits.back() = next;
    Dims split(dims.begin(), dims.end() - 1);
    split.insert(split.end(), {heads, width});
    return b.reshape({b.slice({whole}, std::move(slice))}, {.dims = std::move(split)});
  };
  const Value query = cut(sizes.heads, sizes.width), key = cut(sizes.kv_heads, sizes.width);
  const QueryKeyValue result{query, key, cut(sizes.kv_heads, sizes.value_width)};
  if (dims.back() != Dim(next)) {
    throw make_error(ErrorCode::invalid_argument, "the weight of query, key and value has ",
                     b.dims()->to_string(dims.back()), " rows, their heads ", next);
  }
  return result;
}

RopeTables rope_tables(std::int64_t places, std::int64_t rotary_width, double base) {
  if (rotary_width < 0 || rotary_width % 2 != 0)
    throw make_error(ErrorCode::invalid_argument, "a rotary width must be even, not ", rotary_width);
  const std::int64_t half = rotary_width / 2;
  RopeTables tables{Tensor::zeros(detail::shape_of(DType::f32, {places, half})),
                    Tensor::zeros(detail::shape_of(DType::f32, {places, half}))};
  const std::span<float> cosines = tables.cosines.mutable_values<float>(), sines = tables.sines.mutable_values<float>();
  std::size_t i = 0;
  for (std::int64_t place = 0; place < places; ++place) {
    for (std::int64_t pair = 0; pair < half; ++pair, ++i) {
      const double frequency = std::pow(base, -2 * static_cast<double>(pair) / static_cast<double>(rotary_width));
      const double angle = static_cast<double>(place) * frequency;
      cosines[i] = static_cast<float>(std::cos(angle));
      sines[i] = static_cast<float>(std::sin(angle));
    }
  }
  return tables;
}

}  // namespace alate::graph
