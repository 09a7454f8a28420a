#include "pipelines/modules/torch_activations.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "graph/builder_functions.h"

namespace alate::pipelines {
namespace {

using graph::Builder;
using graph::scalar_like;
using graph::Value;

Value identity(Builder&, Value x) { return x; }
Value tanh(Builder& b, Value x) { return b.tanh({x}); }
Value sigmoid(Builder& b, Value x) { return b.logistic({x}); }
Value gelu(Builder& b, Value x) { return b.gelu({x}, {.tanh_approximation = false}); }
Value silu(Builder& b, Value x) { return b.silu({x}); }
Value elu(Builder& b, Value x) { return graph::elu(b, x); }
Value celu(Builder& b, Value x) { return graph::celu(b, x); }
Value selu(Builder& b, Value x) { return graph::selu(b, x); }
Value leaky_relu(Builder& b, Value x) { return graph::leaky_relu(b, x); }
Value hard_tanh(Builder& b, Value x) { return graph::hard_tanh(b, x); }
Value hard_sigmoid(Builder& b, Value x) { return graph::hard_sigmoid(b, x); }
Value log_sigmoid(Builder& b, Value x) { return b.neg({graph::softplus(b, b.neg({x}))}); }
Value tanh_shrink(Builder& b, Value x) { return b.sub({x, b.tanh({x})}); }
Value softmax(Builder& b, Value x) { return b.softmax({x}, {.axis = 1}); }
Value softmin(Builder& b, Value x) { return softmax(b, b.neg({x})); }
Value log_softmax(Builder& b, Value x) { return b.log_softmax({x}, {.axis = 1}); }

// In inference the slope below 0 is the middle of those that training draws: 1/8 to 1/3.
Value rrelu(Builder& b, Value x) { return graph::leaky_relu(b, x, (1.0 / 8 + 1.0 / 3) / 2); }

constexpr double kLambda = 0.5;  // of both shrinking functions

Value hard_shrink(Builder& b, Value x) {
  const Value is_small = b.less_or_equal({b.abs({x}), scalar_like(b, kLambda, x)});
  return b.select({is_small, scalar_like(b, 0, x), x});
}
Value soft_shrink(Builder& b, Value x) { return b.sub({x, graph::clip(b, x, -kLambda, kLambda)}); }

Value glu(Builder& b, Value x) {
  const std::vector<Value> halves = graph::split_evenly(b, x, 2, 1);
  return b.mul({halves[0], b.logistic({halves[1]})});
}

struct Row {
  std::string_view name;
  Value (*apply)(Builder&, Value);
  bool is_along_rows = false;
};

constexpr Row kActivations[] = {
    {"CELU", celu},
    {"Dropout", identity},
    {"ELU", elu},
    {"GELU", gelu},
    {"GLU", glu},
    {"Hardshrink", hard_shrink},
    {"Hardsigmoid", hard_sigmoid},
    {"Hardswish", graph::hard_swish},
    {"Hardtanh", hard_tanh},
    {"Identity", identity},
    {"LeakyReLU", leaky_relu},
    {"LogSigmoid", log_sigmoid},
    {"LogSoftmax", log_softmax, true},
    {"Mish", graph::mish},
    {"RReLU", rrelu},
    {"ReLU", graph::relu},
    {"ReLU6", graph::relu6},
    {"SELU", selu},
    {"SiLU", silu},
    {"Sigmoid", sigmoid},
    {"Softmax", softmax, true},
    {"Softmin", softmin, true},
    {"Softplus", graph::softplus},
    {"Softshrink", soft_shrink},
    {"Softsign", graph::softsign},
    {"Tanh", tanh},
    {"Tanhshrink", tanh_shrink},
};

const Row* find(std::string_view name) {
  const Row* found = std::ranges::find(kActivations, name, &Row::name);
  return found == std::end(kActivations) ? nullptr : found;
}

}  // namespace

bool is_torch_activation(std::string_view name) { return find(name) != nullptr; }

bool is_along_rows(std::string_view name) {
  const Row* row = find(name);
  return row != nullptr && row->is_along_rows;
}

Value torch_activation(Builder& b, std::string_view name, Value x) { return find(name)->apply(b, x); }

}  // namespace alate::pipelines
