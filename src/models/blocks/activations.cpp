// The activation functions of transformers' ACT2FN, as ops; formulas are those of transformers/activations.py.
#include <numbers>
#include <string>

#include "alate/error.h"
#include "graph/builder_functions.h"
#include "models/encoder.h"

namespace alate::models {
namespace {

using graph::Builder;
using graph::scalar_like;
using graph::Value;

Value scaled(Builder& b, double factor, Value x) { return b.mul({x, scalar_like(b, factor, x)}); }
Value shifted(Builder& b, double offset, Value x) { return b.add({x, scalar_like(b, offset, x)}); }

Value gelu(Builder& b, Value x) { return b.gelu({x}, {.tanh_approximation = false}); }
Value gelu_tanh(Builder& b, Value x) { return b.gelu({x}, {.tanh_approximation = true}); }
Value gelu_10(Builder& b, Value x) { return graph::clip(b, gelu(b, x), -10, 10); }
Value quick_gelu(Builder& b, Value x) { return b.mul({x, b.logistic({scaled(b, 1.702, x)})}); }
Value silu(Builder& b, Value x) { return b.silu({x}); }
Value tanh(Builder& b, Value x) { return b.tanh({x}); }
Value sigmoid(Builder& b, Value x) { return b.logistic({x}); }
Value relu2(Builder& b, Value x) {
  const Value y = graph::relu(b, x);
  return b.mul({y, y});
}
Value leaky_relu(Builder& b, Value x) { return graph::leaky_relu(b, x); }
Value sqrtsoftplus(Builder& b, Value x) { return b.sqrt({graph::softplus(b, x)}); }
Value linear(Builder&, Value x) { return x; }
Value laplace(Builder& b, Value x) {
  const Value standard = scaled(b, 1 / (0.282095 * std::numbers::sqrt2), shifted(b, -0.707107, x));
  return scaled(b, 0.5, shifted(b, 1, b.erf({standard})));
}

struct Row {
  std::string_view name;
  Value (*apply)(Builder&, Value);
};

constexpr Row kActivations[] = {
    {"gelu", gelu},
    {"gelu_10", gelu_10},
    {"gelu_accurate", gelu_tanh},
    {"gelu_fast", gelu_tanh},
    {"gelu_new", gelu_tanh},
    {"gelu_python", gelu},
    {"gelu_python_tanh", gelu_tanh},
    {"gelu_pytorch_tanh", gelu_tanh},
    {"hardswish", graph::hard_swish},
    {"laplace", laplace},
    {"leaky_relu", leaky_relu},
    {"linear", linear},
    {"mish", graph::mish},
    {"quick_gelu", quick_gelu},
    {"relu", graph::relu},
    {"relu2", relu2},
    {"relu6", graph::relu6},
    {"sigmoid", sigmoid},
    {"silu", silu},
    {"sqrtsoftplus", sqrtsoftplus},
    {"swish", silu},
    {"tanh", tanh},
};

}  // namespace

Value activate(Builder& b, std::string_view name, Value x) {
  for (const Row& row : kActivations) {
    if (row.name == name) return row.apply(b, x);
  }
  throw make_error(ErrorCode::unsupported, "activation '", name, "' of config.json is not known here: ", name);
}

}  // namespace alate::models
