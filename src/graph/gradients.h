// Reverse-mode differentiation, from graph to graph: gradients are ordinary nodes over the values of the differentiated
// graph, so that passes, backends and higher-order gradients need no special cases.
//
// A vector-Jacobian product takes a cotangent for each output (a value of the output's shape) and returns one for each
// requested value. For complex numbers a cotangent c stands for the change Re(c · dz) of the loss, which is jax's
// convention: holomorphic functions multiply by their derivative, and the gradient of |z|² / 2 is conj(z).
//
// Where functions are not differentiable, gradients are jax's: equal operands of max and min get half each, equal
// extremes of a reduction equal shares, abs has slope 1 at 0, clamp slope 0 at its bounds. Unlike in jax, the slope of
// x^0 is 0 for every x, and complex sign has its derivative. cumulative_max and cumulative_min give the whole gradient
// to the first of equal values. Comparisons, rounding, integers and storage-only floats propagate no gradient.
//
// Fused ops are differentiated through their decompositions, except attention, which has attention_gradient; take
// gradients before passes fuse ops and choose layouts. A while_loop is differentiable if its trip count follows from
// constants; all states of the loop are kept.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "graph/builder.h"

namespace alate::graph {

/// Adds to `b` the nodes that compute Σ cotangents · ∂outputs / ∂value for each value of `with_respect_to` (floats or
/// complex, parameters or computed values), of that value's shape; zeros if no output depends on it. Each output has
/// one cotangent of its shape. Values of `held` count as constants: no gradient propagates through them. Named dims
/// stay named. New nodes have the builder's source.
/// Throws invalid_argument if counts, dtypes or shapes do not match; unsupported, naming an op and its source, if a
/// gradient would have to pass through an op that has none.
std::vector<Value> gradients(Builder& b, std::span<const Value> outputs, std::span<const Value> cotangents,
                             std::span<const Value> with_respect_to, std::span<const Value> held = {});

/// The graph with further outputs "gradient of NAME", the gradients of output `loss` (a float scalar) with respect to
/// these parameters (indices). Gradient nodes have the sources of the nodes that they differentiate. Throws as
/// `gradients` does.
Graph with_gradients(const Graph& graph, std::size_t loss, std::span<const std::size_t> parameters);

/// A graph that takes the parameters of `graph`, then a cotangent for each of these outputs, and returns the gradients
/// with respect to these parameters (both lists hold indices). Throws as `gradients` does.
Graph vector_jacobian_product(const Graph& graph, std::span<const std::size_t> outputs,
                              std::span<const std::size_t> parameters);

/// Whether and how an op can be differentiated.
struct OpGradient {
  enum class Kind : std::uint8_t {
    rule,  // it has a rule, or a decomposition
    zero,  // no gradient passes: the derivative is 0 wherever it exists
    none,  // asking for its derivative throws unsupported
  };
  Kind kind = Kind::none;
  std::string_view reason;  // why there is no rule
};
OpGradient op_gradient(Op op);

}  // namespace alate::graph
