// Graph passes: each returns an equivalent, cheaper graph.
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

/// Node counts and time of each pass, in order. Nodes inside regions are not counted.
struct PassLogEntry {
  std::string_view pass;
  std::size_t nodes_before, nodes_after;
  std::chrono::nanoseconds time;
};
using PassLog = std::vector<PassLogEntry>;
/// Called with the graph after each pass.
using PassWatcher = std::function<void(std::string_view pass, const Graph& after)>;

/// Each pass is run on the graph's regions, then on the graph.
Graph run_passes(Graph graph, const PassPipeline& pipeline, PassLog* log, const PassWatcher& watcher = {});

/// Whether a backend runs a node of a graph as it is.
using IsNative = std::function<bool(const Graph&, const Node&)>;
/// Layout of a convolution's input and result: NCHW or NHWC, for any number of spatial axes.
enum class ConvolutionLayout { features_first, features_last };

/// A backend's preferences.
struct PassPreferences {
  IsNative is_native = {};  // guards fusions that pay off only if native; without it all are made
  std::optional<ConvolutionLayout> convolution_layout = {};  // without it layouts are kept
};

/// The passes that every backend runs before it decomposes.
PassPipeline standard_passes(const PassPreferences& preferences = {});

// Every pass preserves results: bit for bit where only elements move, up to a fused op's rounding where ops are fused.
// Fusions match only f32 and f64, because fused ops compute narrower floats in f32, which rounds differently; where a
// graph widens f16 or bf16 for such a computation, narrow_fusions makes the fused op take the narrow dtype.

/// Ops over only constants become constants with an identity of their own (nothing is computed here; see Constant).
Graph fold_constants(const Graph& graph);
/// Drops nodes and constants that no output needs.
Graph eliminate_dead_nodes(const Graph& graph);
/// Nodes of equal op, attributes, operands (in any order if the op commutes) and regions are replaced by the first of
/// them; random bits too, since their state is an operand. A node after a barrier is never replaced by one before it.
Graph eliminate_common_subexpressions(const Graph& graph);
/// Removes arithmetic that is a bit-exact no-op (NaNs count as equal): x + -0, x - 0, x · 1, x / 1 (x + 0 for
/// integers), x^1; -(-x) and other involutions; |-x|; conversions to the same dtype, or to a dtype that holds every
/// value and back; select, max, min, and, or of a value with itself. x^2 becomes x · x and x^-1 becomes 1 / x.
Graph simplify_arithmetic(const Graph& graph);
/// Removes data movement that is a no-op: reshapes and the like to the same shape, slices of the whole, empty pads,
/// concatenates of one. Merges two in a row: reshapes, transposes, broadcasts, a broadcast of a reshape that adds
/// extents of 1, a transpose of a broadcast. Moves conversions before broadcasts.
Graph simplify_shapes(const Graph& graph);
/// Sinks transposes and reshapes through element-wise ops whose other operands are moved alike, broadcast, or constant,
/// so that they meet and cancel; dot_general absorbs an operand's transpose into its axes.
Graph sink_transposes(const Graph& graph);
/// gelu (by erf or tanh), silu and logistic from the ops that spell them out.
Graph fuse_activations(const Graph& graph);
/// softmax and log_softmax from exponentials of x - max(x).
Graph fuse_softmax(const Graph& graph);
/// layer_norm (with or without scale and shift) and rms_norm, over the last axis.
Graph fuse_norms(const Graph& graph);
/// attention from products around a softmax: heads as any two batch axes, or one; the scale as a factor or divisor; a
/// soft cap; masks that are added or selected with the lowest number or -infinity; repeated key/value heads. Rows with
/// only -infinity scores become zeros, where the ops would give NaN.
Graph fuse_attention(const Graph& graph, const IsNative& is_native = {});
/// rope from rotated halves (with tables whose halves are equal, or of half the width) and interleaved pairs.
Graph fuse_rope(const Graph& graph, const IsNative& is_native = {});
/// Puts convolutions in the backend's preferred layout, between transposes that sink_transposes and simplify_shapes
/// then merge and cancel. Kernels keep their layout.
Graph choose_convolution_layout(const Graph& graph, ConvolutionLayout layout);
/// dot_general with a weight becomes dense; a following bias, activation (x · logistic(1.702 · x) too) and residual
/// move into it if nothing else reads the dense.
Graph fuse_dense(const Graph& graph);
/// f32 fused ops over widened f16 or bf16 whose result is rounded back become fused ops of that dtype, which are
/// equivalent: they compute in f32 and round once. Scales and shifts must have been widened too, or be representable in
/// the narrow dtype; nothing else may read the f32 result.
Graph narrow_fusions(const Graph& graph, const IsNative& is_native = {});
/// Dense products of one value with several weights (query, key, value) become one product and slices of it. If some
/// have a bias, the others get one of -0, which changes no bit.
Graph merge_projections(const Graph& graph);
/// Where a pool takes the first or last token of each sequence, the row-wise ops before it (products, norms,
/// activations, back to where rows mix or have another reader) are computed for those tokens only. Requires at least
/// one token.
Graph pick_rows_early(const Graph& graph);

}  // namespace alate::graph
