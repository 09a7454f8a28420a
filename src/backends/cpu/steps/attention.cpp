#include "backends/cpu/kernels/attention/attention.h"

#include <algorithm>
#include <numeric>

#include "alate/error.h"
#include "backends/cpu/steps/products/widened.h"
#include "backends/cpu/steps/steps.h"

namespace alate::cpu {
namespace {

// The attributes' part of the arguments; heads and widths are the last two axes of query and value.
AttentionArguments arguments_of(const graph::Attention& attention, const Shape& query, const Shape& value) {
  const std::size_t axis = query.rank() - 2;
  AttentionArguments arguments;
  arguments.heads = extent_of(query, axis);
  arguments.kv_heads = extent_of(value, axis);
  arguments.head_size = extent_of(query, axis + 1);
  arguments.value_size = extent_of(value, axis + 1);
  arguments.scale = static_cast<float>(attention.scale);
  arguments.soft_cap = static_cast<float>(attention.soft_cap);
  arguments.causal = attention.causal;
  arguments.window_left = attention.window_left;
  arguments.window_right = attention.window_right;
  arguments.rounds_operands = attention.rounds_operands;
  return arguments;
}

}  // namespace

void run_attention(const Step& step, const Frame& frame) {
  const auto& attention = std::get<graph::Attention>(step.attributes);
  const Shape &query = frame.shape(step.inputs[0]), &key = frame.shape(step.inputs[1]),
              &value = frame.shape(step.inputs[2]), &result = frame.shape(step.output());
  if (count_of(result) == 0) return;
  WidenedValues values(step, frame);
  AttentionArguments arguments = arguments_of(attention, query, value);
  arguments.sequences = extent_of(query, 0);
  arguments.queries = extent_of(query, 1);
  arguments.keys = extent_of(key, 1);
  arguments.q = values.in(0);
  arguments.q_stride = arguments.heads * arguments.head_size;
  arguments.k = values.in(1);
  arguments.k_stride = arguments.kv_heads * arguments.head_size;
  arguments.v = values.in(2);
  arguments.v_stride = arguments.kv_heads * arguments.value_size;
  std::size_t next = 3;
  if (attention.has_lengths) arguments.key_lengths = frame.in<std::int32_t>(step.inputs[next++]);
  if (attention.has_bias) {
    const Shape& bias = frame.shape(step.inputs[next]);
    arguments.bias = values.in(next++);
    arguments.bias_query_stride = arguments.keys;
    const std::size_t of_head = arguments.queries * arguments.keys;
    arguments.bias_head_stride = bias.dims[1] == Dim(1) ? 0 : of_head;
    arguments.bias_sequence_stride = bias.dims[0] == Dim(1) ? 0 : extent_of(bias, 1) * of_head;
  }
  if (attention.has_sinks) arguments.sinks = values.in(next);
  arguments.out = values.out();
  arguments.out_stride = arguments.heads * arguments.value_size;
  attend_sequences(arguments, frame.pool, frame.max_workers);
  values.finish();
}

void run_ragged_attention(const Step& step, const Frame& frame) {
  const auto& attention = std::get<graph::Attention>(step.attributes);
  const Shape &query = frame.shape(step.inputs[0]), &value = frame.shape(step.inputs[2]);
  WidenedValues values(step, frame);
  AttentionArguments arguments = arguments_of(attention, query, value);
  arguments.q = values.in(0);
  arguments.q_stride = frame.row_stride(step.inputs[0]);
  arguments.k = values.in(1);
  arguments.k_stride = frame.row_stride(step.inputs[1]);
  arguments.v = values.in(2);
  arguments.v_stride = frame.row_stride(step.inputs[2]);
  arguments.q_head_stride = frame.block_stride(step.inputs[0]);
  arguments.k_head_stride = frame.block_stride(step.inputs[1]);
  arguments.v_head_stride = frame.block_stride(step.inputs[2]);
  const bool rounds_result = is_rounded_result(step, frame.binding);
  arguments.rounds_to_bf16 = may_multiply_bf16(step, frame.binding);
  if (rounds_result)
    arguments.halves = frame.out<std::uint16_t>(step.output());
  else
    arguments.out = values.out();
  arguments.out_stride = frame.row_stride(step.output());
  arguments.starts = frame.in<std::int32_t>(step.inputs[3]);
  arguments.lengths = frame.in<std::int32_t>(step.inputs[4]);
  arguments.sequences = extent_of(frame.shape(step.inputs[3]), 0);
  std::size_t next = 7;
  if (attention.has_lengths) arguments.key_lengths = frame.in<std::int32_t>(step.inputs[next++]);
  const std::size_t tokens = extent_of(query, 0), longest = extent_of(frame.shape(step.inputs[5]), 1);
  if (attention.has_bias) {
    const Shape& bias = frame.shape(step.inputs[next]);
    arguments.bias = values.in(next++);
    arguments.bias_query_stride = longest;
    arguments.bias_head_stride = bias.dims[1] == Dim(1) ? 0 : longest * longest;
    arguments.bias_sequence_stride = bias.dims[0] == Dim(1) ? 0 : extent_of(bias, 1) * longest * longest;
  }
  if (attention.has_sinks) arguments.sinks = values.in(next++);
  if (attention.has_query_distances) arguments.query_distances = values.in(next++);
  if (attention.has_key_distances) {
    arguments.shares_key_distances = extent_of(frame.shape(step.inputs[next]), 1) == 1;
    arguments.key_distances = values.in(next);
  }
  arguments.distance_reach = longest;
  arguments.tokens = tokens;
  check_sequences(arguments.starts, arguments.lengths, arguments.sequences, tokens);
  const std::int32_t* lengths = arguments.lengths;
  const bool reads_pairs = attention.has_bias || attention.has_query_distances || attention.has_key_distances;
  if (reads_pairs && std::any_of(lengths, lengths + arguments.sequences,
                                 [&](std::int32_t length) { return static_cast<std::size_t>(length) > longest; })) {
    throw make_error(ErrorCode::invalid_argument, "ragged_attention: a sequence is longer than pad_index has places, ",
                     longest);
  }
  const auto covered = std::accumulate(lengths, lengths + arguments.sequences, std::size_t{0});
  if (covered < tokens) {
    const std::size_t count = count_of(frame.shape(step.output()));
    if (rounds_result)
      std::fill_n(arguments.halves, count, std::uint16_t{0});
    else
      std::fill_n(arguments.out, count, 0.0f);
  }
  attend_sequences(arguments, frame.pool, frame.max_workers);
  if (!rounds_result) values.finish();
}

}  // namespace alate::cpu
