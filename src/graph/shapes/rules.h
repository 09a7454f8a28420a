// The shape rules that rows of the op table name.
#pragma once

#include <vector>

#include "graph/infer.h"

namespace alate::graph {

std::vector<Shape> infer_leaf(const InferenceInput& input);
std::vector<Shape> infer_elementwise(const InferenceInput& input);  // all operands of one shape, which is the result's
std::vector<Shape> infer_compare(const InferenceInput& input);      // as elementwise, but bool
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
