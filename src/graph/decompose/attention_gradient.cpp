#include "graph/decompose.h"
#include "graph/decompose/attention_scores.h"
#include "graph/decompose/widening.h"

namespace alate::graph {
namespace {

class AttentionBackward {
 public:
  AttentionBackward(Builder& b, const AttentionGradientOperands<>& operands, const Attention& attributes)
      : b_(b),
        operands_(operands.attention),
        gradient_(operands.gradient),
        attributes_(attributes),
        scores_(attention_scores(b, operands.attention, attributes)) {}

  std::vector<Value> results() {
    const Dims grouped = b_.shape(scores_.query).dims, dims = b_.shape(scores_.weights).dims;
    Dims rows = grouped;
    rows[4] = b_.shape(scores_.value).dims[3];
    const Value gradient = b_.reshape({widen(b_, gradient_)}, {.dims = std::move(rows)});
    // Gradients of the weights, of the softmax's input, then of the products before scale and cap.
    const Value of_weights =
        b_.dot_general({gradient, scores_.value},
                       {.lhs_batch = {0, 2}, .rhs_batch = {0, 2}, .lhs_contracting = {4}, .rhs_contracting = {3}});
    const Value mean = reduce_keep(b_, Op::reduce_sum, b_.mul({scores_.weights, of_weights}), {4});
    const Value of_scores = b_.mul({scores_.weights, b_.sub({of_weights, broadcast_to(b_, mean, dims)})});
    Value of_products = of_scores;
    if (scores_.capped) {
      const Value one = scalar_like(b_, 1, of_scores);
      of_products = b_.mul({of_scores, b_.sub({one, b_.mul({*scores_.capped, *scores_.capped})})});
    }
    of_products = b_.mul({of_products, scalar_like(b_, attributes_.scale, of_products)});

    const Value of_query =
        b_.dot_general({of_products, scores_.key},
                       {.lhs_batch = {0, 1}, .rhs_batch = {0, 2}, .lhs_contracting = {4}, .rhs_contracting = {1}});
    give(b_.transpose({of_query}, {.permutation = {0, 2, 1, 3, 4}}), operands_.query);
    give(summed_over_queries(of_products, scores_.query), operands_.key);
    give(summed_over_queries(scores_.weights, gradient), operands_.value);
    if (operands_.bias) give(of_bias(of_scores, b_.shape(*operands_.bias).dims), *operands_.bias);
    if (operands_.sinks) {
      const Value of_sinks = b_.reduce_sum({b_.mul({*scores_.sinks, b_.neg({mean})})}, {.axes = {0, 2, 4}});
      give(of_sinks, *operands_.sinks);
    }
    return std::move(results_);
  }

 private:
  // Reshapes a gradient to the operand's shape and rounds it to its dtype.
  void give(Value gradient, Value operand) {
    const Shape shape = b_.shape(operand);
    results_.push_back(narrow(b_, b_.reshape({gradient}, {.dims = shape.dims}), shape.dtype));
  }

  // [batch, keys, kv_heads, …] from `by_key`, a value for each query and key, and `rows` of queries.
  Value summed_over_queries(Value by_key, Value rows) {
    const Value product = b_.dot_general(
        {by_key, rows},
        {.lhs_batch = {0, 1}, .rhs_batch = {0, 2}, .lhs_contracting = {2, 3}, .rhs_contracting = {1, 3}});
    return b_.transpose({product}, {.permutation = {0, 2, 1, 3}});
  }

  // Sums over the axes that the bias broadcasts along.
  Value of_bias(Value of_scores, const Dims& bias) {
    const Dims dims = b_.shape(of_scores).dims;
    const Value by_head = b_.transpose({of_scores}, {.permutation = {0, 1, 3, 2, 4}});
    const Value whole = b_.reshape({by_head}, {.dims = {dims[0], b_.shape(operands_.query).dims[2], dims[2], dims[4]}});
    Numbers repeated;
    for (std::size_t axis = 0; axis < 2; ++axis) {
      if (bias[axis] == Dim(1)) repeated.push_back(static_cast<std::int64_t>(axis));
    }
    return repeated.empty() ? whole : b_.reduce_sum({whole}, {.axes = std::move(repeated)});
  }

  Builder& b_;
  const AttentionOperands<>& operands_;
  const Value gradient_;
  const Attention& attributes_;
  AttentionScores scores_;
  std::vector<Value> results_;
};

}  // namespace

std::vector<Value> decompose_attention_gradient(Builder& b, std::span<const Value> operands,
                                                const Attention& attributes) {
  const auto given = AttentionGradientOperands<>::of(attributes, operands);
  return AttentionBackward(b, given, attributes).results();
}

}  // namespace alate::graph
