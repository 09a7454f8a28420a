// Functions composed of a few ops of the table: shapes, packed sequences, products, statistics and activation
// functions. Axes below 0 count from the end. All throw invalid_argument with the function's name, the shapes of its
// values and the rule that they break. Named dims are allowed wherever no number is needed.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "graph/builder.h"

namespace alate::graph {

// Shapes.

/// Consecutive pieces along an axis; `sizes` must add up to its extent.
std::vector<Value> split(Builder& b, Value x, const Numbers& sizes, std::int64_t axis);
/// Equal pieces; `count` must divide the axis's extent.
std::vector<Value> split_evenly(Builder& b, Value x, std::int64_t count, std::int64_t axis);
/// Values of one shape along a new axis of the result.
Value stack(Builder& b, const std::vector<Value>& values, std::int64_t axis);
/// Drops these axes, whose extents must be 1; by default every axis of extent 1.
Value squeeze(Builder& b, Value x, const std::optional<Numbers>& axes = {});
/// Adds axes of extent 1 at these positions of the result.
Value expand_dims(Builder& b, Value x, const Numbers& axes);
/// Column `index` of a matrix, as a vector.
Value column(Builder& b, Value matrix, std::int64_t index);
/// Repeats the whole value along each axis. As in numpy, the shorter of `repeats` and dims gets 1s in front.
Value tile(Builder& b, Value x, const Numbers& repeats);
/// A new axis of extent `depth` with `on` at each index and `off` elsewhere; all `off` for an index outside [0, depth).
/// `axis` counts the result's axes.
Value one_hot(Builder& b, Value indices, Dim depth, DType dtype, std::int64_t axis = -1, double on = 1, double off = 0);
/// The common dims of values under numpy's broadcasting: dims are aligned at the end and extents of 1 repeat.
Dims broadcast_dims(const Builder& b, std::string_view function, std::span<const Value> values);

// Packed sequences: sequence s has rows starts[s] … starts[s] + lengths[s] - 1 of a value; both are i32 [sequences].

/// The row at each place of each sequence, i32 [sequences, longest]: past a sequence's end its last row. An empty
/// sequence has the row at its start, which may be past the value's end.
Value padded_rows(Builder& b, Value starts, Value lengths, Dim longest);
/// The sequence of each of `rows` rows and the place in it, i32 [rows]; both are 0 for a row of no sequence.
struct PackedRows {
  Value sequence, place;
  Value is_of_sequence;  // bool [rows]
};
PackedRows packed_rows(Builder& b, Value starts, Value lengths, Dim rows);

// Products.

/// As numpy.matmul: leading axes broadcast; a vector is a row on the left and a column on the right, and its added axis
/// is dropped from the result.
Value matmul(Builder& b, Value x, Value y);
/// Sums of products, as numpy.einsum writes them: "bij,bjk->bik". Without "->" the result has the labels that occur
/// once, in alphabetical order. "..." stands for any axes, which broadcast. A label repeated within one operand takes
/// its diagonal. Extents of 1 broadcast.
Value einsum(Builder& b, std::string_view equation, const std::vector<Value>& operands);

// Statistics.

/// Mean over axes (all by default) of a float or complex value; NaN over no elements. f16 and bf16 are summed in f32.
Value reduce_mean(Builder& b, Value x, const std::optional<Numbers>& axes = {}, bool keep_dims = false);
/// x [batch, channels, ...] with each channel of each sample normalized to mean 0 and variance 1 over the remaining
/// axes, then times scale [channels] plus shift [channels]: ONNX's InstanceNormalization.
Value instance_norm(Builder& b, Value x, Value scale, Value shift, double epsilon = 1e-5);

// Element-wise activation functions of floats. NaN stays NaN.

/// x clamped to bounds; the upper one wins where they cross. Takes integers too; their bounds are rounded toward zero.
Value clip(Builder& b, Value x, std::optional<double> low, std::optional<double> high);
Value relu(Builder& b, Value x);  // max(x, 0), integers too
Value relu6(Builder& b, Value x);
Value leaky_relu(Builder& b, Value x, double slope = 0.01);         // x, or slope · x below 0
Value thresholded_relu(Builder& b, Value x, double threshold = 1);  // x above the threshold, else 0
Value prelu(Builder& b, Value x, Value slope);                      // leaky_relu with a slope that broadcasts to x
Value elu(Builder& b, Value x, double alpha = 1);                   // x, or alpha · (exp(x) - 1) below 0
Value celu(Builder& b, Value x, double alpha = 1);                  // x, or alpha · (exp(x / alpha) - 1) below 0
Value selu(Builder& b, Value x, double alpha = 1.6732632423543772, double gamma = 1.0507009873554805);  // gamma · elu
Value softplus(Builder& b, Value x);  // log(1 + exp(x)), also of large x
Value softsign(Builder& b, Value x);  // x / (1 + |x|)
Value mish(Builder& b, Value x);      // x · tanh(softplus(x))
Value hard_tanh(Builder& b, Value x, double low = -1, double high = 1);
Value hard_sigmoid(Builder& b, Value x, double slope = 1.0 / 6, double offset = 0.5);  // slope · x + offset in [0, 1]
Value hard_swish(Builder& b, Value x);                                                 // x · hard_sigmoid(x)

}  // namespace alate::graph
