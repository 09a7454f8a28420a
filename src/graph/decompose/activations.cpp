#include <numbers>

#include "alate/error.h"
#include "graph/decompose.h"
#include "graph/decompose/activations.h"
#include "graph/decompose/widening.h"

namespace alate::graph {

Value decompose_gelu(Builder& b, std::span<const Value> operands, const Gelu& attributes) {
  const Value x = widen(b, operands[0]);
  const Value half_x = b.mul({x, scalar_like(b, 0.5, x)});
  Value inner;
  if (attributes.tanh_approximation) {  // Hendrycks and Gimpel 2016, section 2
    const Value cubic = b.mul({b.mul({x, x}), b.mul({x, scalar_like(b, 0.044715, x)})});
    inner = b.tanh({b.mul({b.add({x, cubic}), scalar_like(b, std::numbers::sqrt2 * std::numbers::inv_sqrtpi, x)})});
  } else {
    inner = b.erf({b.mul({x, scalar_like(b, std::numbers::sqrt2 / 2, x)})});
  }
  return narrow(b, b.mul({half_x, b.add({inner, scalar_like(b, 1, x)})}), b.shape(operands[0]).dtype);
}

Value decompose_silu(Builder& b, std::span<const Value> operands, const NoAttributes&) {
  const Value x = widen(b, operands[0]);
  return narrow(b, b.mul({x, b.logistic({x})}), b.shape(operands[0]).dtype);
}

Value apply_activation(Builder& b, Activation activation, Value x) {
  switch (activation) {
    case Activation::none: return x;
    case Activation::relu: return b.max({x, scalar_like(b, 0, x)});
    case Activation::gelu_erf: return b.gelu({x}, {.tanh_approximation = false});
    case Activation::gelu_tanh: return b.gelu({x}, {.tanh_approximation = true});
    case Activation::silu: return b.silu({x});
    case Activation::tanh: return b.tanh({x});
    case Activation::sigmoid: return b.logistic({x});
    case Activation::quick_gelu: return b.mul({x, b.logistic({b.mul({x, scalar_like(b, 1.702, x)})})});
  }
  throw make_error(ErrorCode::internal, "unknown activation");
}

}  // namespace alate::graph
