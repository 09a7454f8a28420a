#include "graph/gradients/rules.h"

namespace alate::graph {
namespace {

void cumulative_sum(Backward& call) {
  Cumulative back = call.as<Cumulative>();
  back.reverse = !back.reverse;
  call.give(0, call.b.cumulative_sum({call.g()}, back));
}

// With y[i] = Π x[k] over k <= i (k < i where exclusive), the derivative ∂y[i] / ∂x[j] is Π x[k] over k < j times
// Π x[k] over j < k <= i, which holds with zeros too. The second factor is a cumulative product, along a new axis, of
// the values with ones up to j: it takes memory for n · n values, a row for each j.
void cumulative_product(Backward& call) {
  Builder& b = call.b;
  const Cumulative cumulative = call.as<Cumulative>();
  const Shape shape = call.x_shape();
  const auto axis = static_cast<std::size_t>(cumulative.axis);
  const auto turned = [&](Value value) {
    return cumulative.reverse ? b.reverse({value}, {.axes = {cumulative.axis}}) : value;
  };
  const Value x = turned(call.x());
  Dims square = shape.dims;  // j along axis, k and i along axis + 1
  square.insert(square.begin() + cumulative.axis, shape.dims[axis]);
  Numbers rows;
  for (std::size_t i = 0; i < shape.rank(); ++i) rows.push_back(static_cast<std::int64_t>(i < axis ? i : i + 1));
  const auto repeated = [&](Value value) { return b.broadcast_in_dim({value}, {.dims = square, .mapping = rows}); };
  const auto filled = [&](double value) { return broadcast_to(b, b.scalar(shape.dtype, value), square); };

  const Value j = indices_along(b, square, axis), i = indices_along(b, square, axis + 1);
  const Value is_after = b.greater({i, j});
  const Value products =
      b.cumulative_product({b.select({is_after, repeated(x), filled(1)})},
                           {.axis = cumulative.axis + 1, .reverse = false, .exclusive = cumulative.exclusive});
  const Value counts = cumulative.exclusive ? is_after : b.greater_or_equal({i, j});
  const Value terms = b.select({counts, b.mul({products, repeated(turned(call.g()))}), filled(0)});
  const Value after = b.reduce_sum({terms}, {.axes = {cumulative.axis + 1}});
  const Value before = b.cumulative_product({x}, {.axis = cumulative.axis, .reverse = false, .exclusive = true});
  call.give(0, turned(b.mul({before, after})));
}

// The running extreme is at the last value that exceeded all before it.
void cumulative_extreme(Backward& call) {
  Builder& b = call.b;
  const Cumulative cumulative = call.as<Cumulative>();
  const Shape shape = call.x_shape();
  const auto axis = static_cast<std::size_t>(cumulative.axis);
  const bool is_max = call.node.op == Op::cumulative_max;
  const auto turned = [&](Value value) {
    return cumulative.reverse ? b.reverse({value}, {.axes = {cumulative.axis}}) : value;
  };
  const Value x = turned(call.x());
  const Cumulative before{.axis = cumulative.axis, .reverse = false, .exclusive = true};
  const Value extreme = b.emit(call.node.op, {x}, before).front();
  // NaN exceeds everything. The first element is the extreme initially, whatever its value: 0 is its index.
  const Value stays = is_max ? b.less_or_equal({x, extreme}) : b.greater_or_equal({x, extreme});
  const Value places = indices_along(b, shape.dims, axis);
  const Value records = b.select({stays, broadcast_to(b, b.scalar(DType::i64, 0), shape.dims), places});
  // An exclusive extreme of no elements has the lowest number as its index, which is out of range.
  const Value holders =
      b.cumulative_max({records}, {.axis = cumulative.axis, .reverse = false, .exclusive = cumulative.exclusive});
  call.give(0, turned(scatter_along(b, shape, axis, holders, turned(call.g()))));
}

constexpr GradientRule kCumulativeRules[] = {
    {Op::cumulative_sum, cumulative_sum},
    {Op::cumulative_product, cumulative_product},
    {Op::cumulative_max, cumulative_extreme},
    {Op::cumulative_min, cumulative_extreme},
};

}  // namespace

std::span<const GradientRule> cumulative_gradients() { return kCumulativeRules; }

}  // namespace alate::graph
