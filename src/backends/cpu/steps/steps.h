// The run functions of steps: each reads pointers and shapes from the frame and calls a kernel.
#pragma once

#include "backends/cpu/plan/plan.h"

namespace alate::cpu {

// Steps that move elements do not handle packed types; carriers.h wraps them for those.
void run_iota(const Step& step, const Frame& frame);
std::size_t iota_scratch(const Step& step, const Binding& binding, std::size_t index);
void run_copy(const Step& step, const Frame& frame);
void run_transpose(const Step& step, const Frame& frame);
void run_broadcast(const Step& step, const Frame& frame);
void run_concatenate(const Step& step, const Frame& frame);
void run_slice(const Step& step, const Frame& frame);
void run_gather(const Step& step, const Frame& frame);
std::size_t gather_scratch(const Step& step, const Binding& binding, std::size_t index);

void run_pad(const Step& step, const Frame& frame);
void run_reverse(const Step& step, const Frame& frame);
void run_dynamic_slice(const Step& step, const Frame& frame);
void run_dynamic_update_slice(const Step& step, const Frame& frame);
void run_dimension_size(const Step& step, const Frame& frame);
void run_check_extents(const Step& step, const Frame& frame);
void run_zeros(const Step& step, const Frame& frame);
void run_scatter(const Step& step, const Frame& frame);
std::size_t scatter_scratch(const Step& step, const Binding& binding, std::size_t index);

void run_cumulative(const Step& step, const Frame& frame);
void run_arg_min_max(const Step& step, const Frame& frame);
std::size_t widened_scratch(const Step& step, const Binding& binding, std::size_t index);
void run_sort(const Step& step, const Frame& frame);
std::size_t sort_scratch(const Step& step, const Binding& binding, std::size_t index);
/// Whether run_sort supports the order that the node's region defines.
bool has_known_order(const graph::Graph& graph, const graph::Node& node);
void run_sort_by_region(const Step& step, const Frame& frame);
std::size_t sort_by_region_scratch(const Step& step, const Binding& binding, std::size_t index);
void run_top_k(const Step& step, const Frame& frame);
std::size_t top_k_scratch(const Step& step, const Binding& binding, std::size_t index);
void run_known_reduce(const Step& step, const Frame& frame);
std::size_t known_reduce_scratch(const Step& step, const Binding& binding, std::size_t index);
/// Whether the node's region is a single op that run_known_reduce has loops for.
bool has_known_reduction(const graph::Graph& graph, const graph::Node& node);
void run_region_reduce(const Step& step, const Frame& frame);
std::size_t region_reduce_scratch(const Step& step, const Binding& binding, std::size_t index);

void run_reduce(const Step& step, const Frame& frame);
std::size_t reduce_scratch(const Step& step, const Binding& binding, std::size_t index);
/// Whether run_reduce has loops for this op and dtype.
bool has_reduction(graph::Op op, DType dtype);
/// Scratch of the steps below for f16 and bf16 values, which are computed as f32.
std::size_t widened_halves_scratch(const Step& step, const Binding& binding, std::size_t index);
void run_rms_norm(const Step& step, const Frame& frame);
void run_softmax(const Step& step, const Frame& frame);
void run_layer_norm(const Step& step, const Frame& frame);
void run_normalize(const Step& step, const Frame& frame);
void run_pool(const Step& step, const Frame& frame);

void run_dense(const Step& step, const Frame& frame);
Tensor pack_dense(const Tensor& weight, const graph::Attributes& attributes);
std::size_t packed_dense_bytes(const Shape& weight, const graph::Attributes& attributes);
void run_half_dense(const Step& step, const Frame& frame);
Tensor pack_half_dense(const Tensor& weight, const graph::Attributes& attributes);
std::size_t packed_half_dense_bytes(const Shape& weight, const graph::Attributes& attributes);
std::size_t half_dense_scratch(const Step& step, const Binding& binding, std::size_t index);
void run_dot_general(const Step& step, const Frame& frame);
std::size_t dot_general_scratch(const Step& step, const Binding& binding, std::size_t index);

void run_convolution(const Step& step, const Frame& frame);
std::size_t convolution_scratch(const Step& step, const Binding& binding, std::size_t index);
bool fits_convolution(const graph::Graph& graph, const graph::Node& node);
/// Constant kernels [output, input, spatial...] and [spatial..., input, output], packed once.
bool fits_packed_output_first(const graph::Graph& graph, const graph::Node& node);
bool fits_packed_output_last(const graph::Graph& graph, const graph::Node& node);
bool fits_packed_depthwise(const graph::Graph& graph, const graph::Node& node);
Tensor pack_depthwise(const Tensor& kernel, const graph::Attributes& attributes);
std::size_t packed_depthwise_bytes(const Shape& kernel, const graph::Attributes& attributes);
Tensor pack_output_first(const Tensor& kernel, const graph::Attributes& attributes);
std::size_t packed_output_first_bytes(const Shape& kernel, const graph::Attributes& attributes);
Tensor pack_output_last(const Tensor& kernel, const graph::Attributes& attributes);
std::size_t packed_output_last_bytes(const Shape& kernel, const graph::Attributes& attributes);

void run_reduce_window(const Step& step, const Frame& frame);
std::size_t reduce_window_scratch(const Step& step, const Binding& binding, std::size_t index);
void run_select_and_scatter(const Step& step, const Frame& frame);
std::size_t select_and_scatter_scratch(const Step& step, const Binding& binding, std::size_t index);

void run_batch_norm_inference(const Step& step, const Frame& frame);
void run_batch_norm_training(const Step& step, const Frame& frame);
void run_batch_norm_gradient(const Step& step, const Frame& frame);

void run_fft(const Step& step, const Frame& frame);
std::size_t fft_scratch(const Step& step, const Binding& binding, std::size_t index);
void run_rng_bit_generator(const Step& step, const Frame& frame);

bool has_few_scaled_axes(const graph::Graph& graph, const graph::Node& node);
bool takes_plain_activations(const graph::Graph& graph, const graph::Node& node);
/// Products of 8-bit activations with 8-bit weights, one scale per row, without and with smoothing.
bool fits_integer_product(const graph::Graph& graph, const graph::Node& node);
Tensor pack_integers(const Tensor& weight, const graph::Attributes& attributes);
std::size_t packed_integers_bytes(const Shape& weight, const graph::Attributes& attributes);
/// What the packed weight's layout depends on, besides the instruction set.
graph::Numbers integers_layout(const graph::Attributes& attributes);
/// Packs scales [out, groups] group by group.
Tensor pack_group_scales(const Tensor& scales, const graph::Attributes& attributes);
std::size_t packed_group_scales_bytes(const Shape& scales, const graph::Attributes& attributes);
void run_integer_product(const Step& step, const Frame& frame);
bool fits_block_product(const graph::Graph& graph, const graph::Node& node);
Tensor pack_block_weight(const Tensor& stored, const graph::Attributes& attributes);
std::size_t packed_blocks_bytes(const Shape& stored, const graph::Attributes& attributes);
graph::Numbers blocks_layout(const graph::Attributes& attributes);
std::size_t block_dense_scratch(const Step& step, const Binding& binding, std::size_t index);
void run_block_dense(const Step& step, const Frame& frame);
std::size_t integer_product_scratch(const Step& step, const Binding& binding, std::size_t index);
/// A joined step: a norm, f32 only, then an integer product that reads its result.
void run_norm_integer_product(const Step& step, const Frame& frame);
std::size_t norm_integer_product_scratch(const Step& step, const Binding& binding, std::size_t index);
void run_dequantize(const Step& step, const Frame& frame);
void run_quantized_dense(const Step& step, const Frame& frame);
std::size_t quantized_dense_scratch(const Step& step, const Binding& binding, std::size_t index);
void run_quantized_embedding(const Step& step, const Frame& frame);

void run_while_loop(const Step& step, const Frame& frame);
std::size_t while_loop_scratch(const Step& step, const Binding& binding, std::size_t index);
void run_if_else(const Step& step, const Frame& frame);
void run_call(const Step& step, const Frame& frame);
std::size_t run_once_scratch(const Step& step, const Binding& binding, std::size_t index);
/// Bytes that a RegionRunner needs for any of the step's regions.
std::size_t region_scratch(const Step& step, const Binding& binding, std::size_t index);

/// Runs any op in the reference interpreter: slow, for ops without a kernel.
void run_interpreted(const Step& step, const Frame& frame);

void run_attention(const Step& step, const Frame& frame);
void run_ragged_attention(const Step& step, const Frame& frame);
/// Reads a cache of f32, f16 or bf16 as it is stored.
void run_paged_attention(const Step& step, const Frame& frame);
std::size_t paged_attention_scratch(const Step& step, const Binding& binding, std::size_t index);
void run_rope(const Step& step, const Frame& frame);
bool fits_rope(const graph::Graph& graph, const graph::Node& node);
/// For [tokens, heads, width] with a stride between tokens.
bool fits_rope_of_rows(const graph::Graph& graph, const graph::Node& node);

/// Throws invalid_argument unless every sequence lies within the tokens.
void check_sequences(const std::int32_t* starts, const std::int32_t* lengths, std::size_t sequences,
                     std::size_t tokens);

/// Elements of a bound shape.
inline std::size_t count_of(const Shape& shape) { return static_cast<std::size_t>(shape.element_count()); }
/// Extent of one axis of a bound shape.
inline std::size_t extent_of(const Shape& shape, std::size_t axis) {
  return static_cast<std::size_t>(shape.dims[axis].number());
}
/// Product of all extents but the last.
inline std::size_t rows_of(const Shape& shape) {
  std::size_t rows = 1;
  for (std::size_t i = 0; i + 1 < shape.rank(); ++i) rows *= extent_of(shape, i);
  return rows;
}

}  // namespace alate::cpu
