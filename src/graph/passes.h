// Passes: each makes a better graph of a graph that computes the same.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace alate::graph {

struct Pass {
  std::string_view name;
  std::function<Graph(const Graph&)> run;
};
using PassPipeline = std::vector<Pass>;

/// What each pass did, in order. Nodes inside regions are not counted.
struct PassLogEntry {
  std::string_view pass;
  std::size_t nodes_before, nodes_after;
  std::chrono::nanoseconds time;
};
using PassLog = std::vector<PassLogEntry>;
/// Sees the graph after each pass.
using PassWatcher = std::function<void(std::string_view pass, const Graph& after)>;

/// Each pass is run on the graph's regions, then on the graph.
Graph run_passes(Graph graph, const PassPipeline& pipeline, PassLog* log, const PassWatcher& watcher = {});

/// Whether a backend runs a node of a graph as it is.
using IsNative = std::function<bool(const Graph&, const Node&)>;
/// Where the features of a convolution's input and result are: NCHW or NHWC, for any number of spatial axes.
enum class ConvolutionLayout { features_first, features_last };

/// What a backend would have.
struct PassPreferences {
  IsNative is_native = {};  // fusions that are worth nothing unless native ask it; without it all are made
  std::optional<ConvolutionLayout> convolution_layout = {};  // without it layouts stay
};

/// What every backend wants before it decomposes.
PassPipeline standard_passes(const PassPreferences& preferences = {});

// Every pass keeps results: the same bits where only elements move, the rounding of a fused op where ops are fused.
// Fusions match f32 and f64 alone, because fused ops compute narrower floats in f32, which has other results; where a
// graph widens halves for such a computation, narrow_fusions makes the fused op one of halves.

/// Ops over constants alone become constants with an identity of their own (nothing is computed here; see Constant).
Graph fold_constants(const Graph& graph);
/// Drops nodes and constants that no output needs.
Graph eliminate_dead_nodes(const Graph& graph);
/// Nodes of equal op, attributes, operands (in any order where the op commutes) and regions become the first of them,
/// random bits too, since their state is an operand. Nothing before a barrier stands for what comes after it.
Graph eliminate_common_subexpressions(const Graph& graph);
/// Arithmetic that changes nothing goes, where that is so for every bit (NaNs are not told apart): x + -0, x - 0, x ·
/// 1, x / 1 (x + 0 of integers), x^1; -(-x) and other ops that undo themselves; |-x|; conversions to the same dtype, or
/// to one that holds every value and back; select, max, min, and, or of a value with itself. x^2 becomes x · x and x^-1
/// becomes 1 / x.
Graph simplify_arithmetic(const Graph& graph);
/// Movements of elements that change nothing go: to the same shape, slices of the whole, pads of nothing, concatenates
/// of one. Two in a row become one: reshapes, transposes, broadcasts, a broadcast of a reshape that adds extents of 1,
/// a transpose of a broadcast. What is repeated and then converted is converted first.
Graph simplify_shapes(const Graph& graph);
/// Transposes and reshapes go down through element-wise ops whose other operands are moved alike, repeated, or
/// constant, so that they meet and cancel; dot_general reads a transposed operand as it is, by naming other axes.
Graph sink_transposes(const Graph& graph);
/// gelu (by erf or tanh), silu and logistic from what they are written in.
Graph fuse_activations(const Graph& graph);
/// softmax and log_softmax from exponentials of differences to the largest value.
Graph fuse_softmax(const Graph& graph);
/// layer_norm (with or without scale and shift) and rms_norm, over the last axis.
Graph fuse_norms(const Graph& graph);
/// attention from products around a softmax: heads as any two batch axes, or one; the scale as a factor or divisor; a
/// soft cap; masks that are added or selected with the lowest number or -infinity; key/value heads that are repeated.
/// Rows of which every score is -infinity become zeros, where the ops would give NaN.
Graph fuse_attention(const Graph& graph, const IsNative& is_native = {});
/// rope from rotated halves (with tables whose halves are equal, or of half the width) and interleaved pairs.
Graph fuse_rope(const Graph& graph, const IsNative& is_native = {});
/// Convolutions read and write features where the backend wants them, between transposes that sink_transposes and
/// simplify_shapes move together and cancel. Kernels stay.
Graph choose_convolution_layout(const Graph& graph, ConvolutionLayout layout);
/// dot_general with a weight becomes dense; bias, activation (x · logistic(1.702 · x) too) and residual that follow a
/// dense alone move into it.
Graph fuse_dense(const Graph& graph);
/// Fused ops of f32 over widened halves whose result is rounded back become fused ops of halves, which mean the same:
/// all is computed in f32 and rounded once. Scales and shifts must be halves that were widened, or numbers that halves
/// hold; nobody else may read the f32 result.
Graph narrow_fusions(const Graph& graph, const IsNative& is_native = {});
/// Dense products of one value with several weights (query, key, value) become one product and slices of it. Where some
/// have a bias, the others get one of -0, which changes nothing.
Graph merge_projections(const Graph& graph);
/// Where a pool takes the first or the last token of each sequence, what works on each row alone before it (products,
/// norms, activations, back to where rows mix or something else reads them) is computed for those tokens only. There
/// must be a token at least.
Graph pick_rows_early(const Graph& graph);

}  // namespace alate::graph
