// Reverse-mode differentiation, from graph to graph: gradients are ordinary nodes over the values of the graph that is
// differentiated, so that passes, backends and gradients of gradients see nothing special.
//
// A vector-Jacobian product takes a cotangent for each output (a value of the output's shape) and gives one for each
// value asked about. For complex numbers a cotangent c stands for the change Re(c · dz) of the loss, which is jax's
// convention: holomorphic functions multiply by their derivative, and the gradient of |z|² / 2 is conj(z).
//
// Where functions have kinks, gradients are jax's: equal operands of max and min get half each, the equal extremes of a
// reduction equal shares, abs has slope 1 at 0, clamp slope 0 at its bounds. Unlike jax's, the
// slope of x^0 is 0 for every x, and complex signs have their derivative. cumulative_max and cumulative_min give all
// to the first of equal values. Comparisons, rounding and integers pass nothing on, nor do the storage-only floats.
//
// Fused ops are differentiated through their decompositions, but attention has attention_gradient; take gradients
// before passes fuse and lay out. A while_loop is differentiable where the number of its trips follows from constants;
// all states of the loop are kept.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "graph/builder.h"

namespace alate::graph {

/// Adds to `b` the nodes that compute Σ cotangents · ∂outputs / ∂value for each value of `with_respect_to` (floats or
/// complex, parameters or whatever is computed), of that value's shape; zeros where no output depends on it. Each
/// output has one cotangent of its shape. Nothing goes back through the values of `held`, which count as constants.
/// Named dims stay named. New nodes have the builder's source.
/// Throws invalid_argument where numbers, dtypes or shapes do not fit, unsupported naming an op and its source where a
/// derivative would have to go through an op that has none.
std::vector<Value> gradients(Builder& b, std::span<const Value> outputs, std::span<const Value> cotangents,
                             std::span<const Value> with_respect_to, std::span<const Value> held = {});

/// The graph, and after its outputs "gradient of NAME" for each of these parameters (places in the list): of output
/// `loss`, a float scalar. Gradients have the sources of what they differentiate. Throws as `gradients` does.
Graph with_gradients(const Graph& graph, std::size_t loss, std::span<const std::size_t> parameters);

/// A graph that takes the parameters of `graph`, then a cotangent for each of these outputs, and gives the gradients
/// with respect to these parameters: places in the lists. Throws as `gradients` does.
Graph vector_jacobian_product(const Graph& graph, std::span<const std::size_t> outputs,
                              std::span<const std::size_t> parameters);

/// What differentiation knows of an op.
struct OpGradient {
  enum class Kind : std::uint8_t {
    rule,  // it has a rule, or a decomposition
    zero,  // nothing passes: the derivative is 0 wherever there is one
    none,  // a derivative that is asked for is an error of unsupported
  };
  Kind kind = Kind::none;
  std::string_view reason;  // why there is no rule
};
OpGradient op_gradient(Op op);

}  // namespace alate::graph
