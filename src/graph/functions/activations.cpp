#include "graph/builder_functions.h"
#include "graph/functions/arguments.h"

namespace alate::graph {
namespace {

Value scaled(Builder& b, double factor, Value x) { return b.mul({x, scalar_like(b, factor, x)}); }
Value shifted(Builder& b, double offset, Value x) { return b.add({x, scalar_like(b, offset, x)}); }
Value is_negative(Builder& b, Value x) { return b.less({x, scalar_like(b, 0, x)}); }

void require_float(const Builder& b, std::string_view function, Value x) {
  Arguments{b, function, {&x, 1}}.require_float(x);
}

}  // namespace

Value clip(Builder& b, Value x, std::optional<double> low, std::optional<double> high) {
  if (low) x = b.max({x, scalar_like(b, *low, x)});
  if (high) x = b.min({x, scalar_like(b, *high, x)});
  return x;
}

Value relu(Builder& b, Value x) { return clip(b, x, 0, {}); }
Value relu6(Builder& b, Value x) { return clip(b, x, 0, 6); }

Value leaky_relu(Builder& b, Value x, double slope) {
  require_float(b, "leaky_relu", x);
  if (slope == 0) return relu(b, x);  // 0 · ∞ is NaN
  const Value other = scaled(b, slope, x);
  return slope <= 1 ? b.max({x, other}) : b.min({x, other});
}

Value thresholded_relu(Builder& b, Value x, double threshold) {
  require_float(b, "thresholded_relu", x);
  const Value is_below = b.less_or_equal({x, scalar_like(b, threshold, x)});
  return b.select({is_below, scalar_like(b, 0, x), x});
}

Value prelu(Builder& b, Value x, Value slope) {
  const Value values[] = {x, slope};
  const Arguments arguments{b, "prelu", values};
  arguments.require_float(x);
  arguments.require(b.shape(slope).dtype == b.shape(x).dtype && broadcast_dims(b, "prelu", values) == b.shape(x).dims,
                    "the slope must have the dtype of the first value and broadcast to it");
  const Value slopes = broadcast_to(b, slope, b.shape(x).dims);
  return b.select({is_negative(b, x), b.mul({x, slopes}), x});
}

Value elu(Builder& b, Value x, double alpha) {
  require_float(b, "elu", x);
  return b.select({is_negative(b, x), scaled(b, alpha, b.expm1({x})), x});
}

Value celu(Builder& b, Value x, double alpha) {
  const Arguments arguments{b, "celu", {&x, 1}};
  arguments.require_float(x);
  arguments.require(alpha != 0, "alpha may not be 0");
  return b.select({is_negative(b, x), scaled(b, alpha, b.expm1({scaled(b, 1 / alpha, x)})), x});
}

Value selu(Builder& b, Value x, double alpha, double gamma) {
  require_float(b, "selu", x);
  return scaled(b, gamma, elu(b, x, alpha));
}

Value softplus(Builder& b, Value x) {
  require_float(b, "softplus", x);
  return b.add({relu(b, x), b.log1p({b.exp({b.neg({b.abs({x})})})})});
}

Value softsign(Builder& b, Value x) {
  require_float(b, "softsign", x);
  return b.div({x, shifted(b, 1, b.abs({x}))});
}

Value mish(Builder& b, Value x) { return b.mul({x, b.tanh({softplus(b, x)})}); }

Value hard_tanh(Builder& b, Value x, double low, double high) { return clip(b, x, low, high); }

Value hard_sigmoid(Builder& b, Value x, double slope, double offset) {
  require_float(b, "hard_sigmoid", x);
  return clip(b, shifted(b, offset, scaled(b, slope, x)), 0, 1);
}

Value hard_swish(Builder& b, Value x) {
  require_float(b, "hard_swish", x);
  return b.mul({x, scaled(b, 1.0 / 6, relu6(b, shifted(b, 3, x)))});
}

}  // namespace alate::graph
