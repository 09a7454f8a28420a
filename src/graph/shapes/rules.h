// The shape rules that rows of the op table name.
#pragma once

#include <vector>

#include "graph/infer.h"

namespace alate::graph {

std::vector<Shape> infer_leaf(const InferenceInput& input);
std::vector<Shape> infer_elementwise(const InferenceInput& input);  // all operands of one shape, which is the result's
std::vector<Shape> infer_compare(const InferenceInput& input);      // as elementwise, but bool
std::vector<Shape> infer_real_part(const InferenceInput& input);  // as elementwise, but a complex dtype's parts' dtype
std::vector<Shape> infer_complex(const InferenceInput& input);
std::vector<Shape> infer_clamp(const InferenceInput& input);
std::vector<Shape> infer_bitcast(const InferenceInput& input);
std::vector<Shape> infer_select(const InferenceInput& input);
std::vector<Shape> infer_convert(const InferenceInput& input);
std::vector<Shape> infer_like_first(const InferenceInput& input);
std::vector<Shape> infer_iota(const InferenceInput& input);
std::vector<Shape> infer_reshape(const InferenceInput& input);
std::vector<Shape> infer_transpose(const InferenceInput& input);
std::vector<Shape> infer_broadcast_in_dim(const InferenceInput& input);
std::vector<Shape> infer_concatenate(const InferenceInput& input);
std::vector<Shape> infer_slice(const InferenceInput& input);
std::vector<Shape> infer_gather(const InferenceInput& input);
std::vector<Shape> infer_dot_general(const InferenceInput& input);
std::vector<Shape> infer_reduce(const InferenceInput& input);
std::vector<Shape> infer_pad(const InferenceInput& input);
std::vector<Shape> infer_reverse(const InferenceInput& input);
std::vector<Shape> infer_dynamic_slice(const InferenceInput& input);
std::vector<Shape> infer_dynamic_update_slice(const InferenceInput& input);
std::vector<Shape> infer_dimension_size(const InferenceInput& input);
std::vector<Shape> infer_dynamic_reshape(const InferenceInput& input);
std::vector<Shape> infer_scatter(const InferenceInput& input);
std::vector<Shape> infer_arg_min_max(const InferenceInput& input);
std::vector<Shape> infer_cumulative(const InferenceInput& input);
std::vector<Shape> infer_top_k(const InferenceInput& input);
std::vector<Shape> infer_barrier(const InferenceInput& input);
std::vector<Shape> infer_all_reduce(const InferenceInput& input);
std::vector<Shape> infer_all_gather(const InferenceInput& input);
std::vector<Shape> infer_all_to_all(const InferenceInput& input);
std::vector<Shape> infer_reduce_scatter(const InferenceInput& input);
std::vector<Shape> infer_collective_permute(const InferenceInput& input);
std::vector<Shape> infer_collective_broadcast(const InferenceInput& input);
std::vector<Shape> infer_device_id(const InferenceInput& input);
std::vector<Shape> infer_call(const InferenceInput& input);
std::vector<Shape> infer_generic_reduce(const InferenceInput& input);
std::vector<Shape> infer_sort(const InferenceInput& input);
std::vector<Shape> infer_while_loop(const InferenceInput& input);
std::vector<Shape> infer_if_else(const InferenceInput& input);
std::vector<Shape> infer_norm(const InferenceInput& input);
std::vector<Shape> infer_dense(const InferenceInput& input);
std::vector<Shape> infer_attention(const InferenceInput& input);
std::vector<Shape> infer_ragged_attention(const InferenceInput& input);
std::vector<Shape> infer_ragged_pool(const InferenceInput& input);
std::vector<Shape> infer_conv_general(const InferenceInput& input);
std::vector<Shape> infer_reduce_window(const InferenceInput& input);
std::vector<Shape> infer_select_and_scatter(const InferenceInput& input);
std::vector<Shape> infer_fft(const InferenceInput& input);
std::vector<Shape> infer_batch_norm_inference(const InferenceInput& input);
std::vector<Shape> infer_batch_norm_training(const InferenceInput& input);
std::vector<Shape> infer_batch_norm_gradient(const InferenceInput& input);
std::vector<Shape> infer_rng_bit_generator(const InferenceInput& input);
std::vector<Shape> infer_dequantize(const InferenceInput& input);
std::vector<Shape> infer_rms_norm(const InferenceInput& input);
std::vector<Shape> infer_group_norm(const InferenceInput& input);
std::vector<Shape> infer_rope(const InferenceInput& input);
std::vector<Shape> infer_quantized_dense(const InferenceInput& input);
std::vector<Shape> infer_quantized_embedding(const InferenceInput& input);
std::vector<Shape> infer_paged_attention(const InferenceInput& input);

}  // namespace alate::graph
