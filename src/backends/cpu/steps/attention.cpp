#include "backends/cpu/kernels/attention/attention.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "alate/error.h"
#include "backends/cpu/steps/products/widened.h"
#include "backends/cpu/steps/steps.h"
#include "graph/operands.h"

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

// A bias [1 or sequences, 1 or heads, queries, keys] at this place among the operands, if there is one.
void add_bias(AttentionArguments& arguments, std::optional<std::size_t> place, const Step& step, const Frame& frame,
              WidenedValues& values) {
  if (!place) return;
  const Shape& bias = frame.shape(step.inputs[*place]);
  const std::size_t of_head = extent_of(bias, 2) * extent_of(bias, 3);
  arguments.bias = values.in(*place);
  arguments.bias_query_stride = extent_of(bias, 3);
  arguments.bias_head_stride = bias.dims[1] == Dim(1) ? 0 : of_head;
  arguments.bias_sequence_stride = bias.dims[0] == Dim(1) ? 0 : extent_of(bias, 1) * of_head;
}

// Sequences within the tokens, none longer than `longest`.
void check_lengths(const AttentionArguments& arguments, std::size_t longest) {
  check_sequences(arguments.starts, arguments.lengths, arguments.sequences, arguments.tokens);
  const std::int32_t* lengths = arguments.lengths;
  if (std::any_of(lengths, lengths + arguments.sequences,
                  [&](std::int32_t length) { return static_cast<std::size_t>(length) > longest; })) {
    throw make_error(ErrorCode::invalid_argument, "ragged_attention: a sequence is longer than `longest`, ", longest);
  }
}

}  // namespace

void run_attention(const Step& step, const Frame& frame) {
  const auto& attention = std::get<graph::Attention>(step.attributes);
  const auto at = graph::places_of<graph::AttentionOperands>(attention);
  const Shape &query = frame.shape(step.inputs[at.query]), &key = frame.shape(step.inputs[at.key]),
              &value = frame.shape(step.inputs[at.value]), &result = frame.shape(step.output());
  if (count_of(result) == 0) return;
  WidenedValues values(step, frame);
  AttentionArguments arguments = arguments_of(attention, query, value);
  arguments.sequences = extent_of(query, 0);
  arguments.queries = extent_of(query, 1);
  arguments.keys = extent_of(key, 1);
  arguments.q = values.in(at.query);
  arguments.q_stride = arguments.heads * arguments.head_size;
  arguments.k = values.in(at.key);
  arguments.k_stride = arguments.kv_heads * arguments.head_size;
  arguments.v = values.in(at.value);
  arguments.v_stride = arguments.kv_heads * arguments.value_size;
  if (at.lengths) arguments.key_lengths = frame.in<std::int32_t>(step.inputs[*at.lengths]);
  add_bias(arguments, at.bias, step, frame, values);
  if (at.sinks) arguments.sinks = values.in(*at.sinks);
  arguments.out = values.out();
  arguments.out_stride = arguments.heads * arguments.value_size;
  attend_sequences(arguments, frame.pool, frame.max_workers);
  values.finish();
}

void run_ragged_attention(const Step& step, const Frame& frame) {
  const auto& attention = std::get<graph::Attention>(step.attributes);
  const auto at = graph::places_of<graph::RaggedAttentionOperands>(attention);
  const SlotId query = step.inputs[at.query], key = step.inputs[at.key], value = step.inputs[at.value];
  WidenedValues values(step, frame);
  AttentionArguments arguments = arguments_of(attention, frame.shape(query), frame.shape(value));
  arguments.q = values.in(at.query);
  arguments.q_stride = frame.row_stride(query);
  arguments.k = values.in(at.key);
  arguments.k_stride = frame.row_stride(key);
  arguments.v = values.in(at.value);
  arguments.v_stride = frame.row_stride(value);
  arguments.q_head_stride = frame.block_stride(query);
  arguments.k_head_stride = frame.block_stride(key);
  arguments.v_head_stride = frame.block_stride(value);
  const bool rounds_result = is_rounded_result(step, frame.binding);
  arguments.rounds_to_bf16 = may_multiply_bf16(step, frame.binding);
  if (rounds_result)
    arguments.halves = frame.out<std::uint16_t>(step.output());
  else
    arguments.out = values.out();
  arguments.out_stride = frame.row_stride(step.output());
  arguments.starts = frame.in<std::int32_t>(step.inputs[at.starts]);
  arguments.lengths = frame.in<std::int32_t>(step.inputs[at.lengths]);
  arguments.sequences = extent_of(frame.shape(step.inputs[at.starts]), 0);
  arguments.tokens = extent_of(frame.shape(query), 0);
  if (at.key_lengths) arguments.key_lengths = frame.in<std::int32_t>(step.inputs[*at.key_lengths]);
  add_bias(arguments, at.bias, step, frame, values);
  if (at.sinks) arguments.sinks = values.in(*at.sinks);
  if (at.query_distances) arguments.query_distances = values.in(*at.query_distances);
  if (at.key_distances) {
    arguments.shares_key_distances = extent_of(frame.shape(step.inputs[*at.key_distances]), 1) == 1;
    arguments.key_distances = values.in(*at.key_distances);
  }
  arguments.distance_reach = static_cast<std::size_t>((*frame.binding.dims)(attention.longest));
  check_lengths(arguments, arguments.distance_reach);
  const std::int32_t* lengths = arguments.lengths;
  const auto covered = std::accumulate(lengths, lengths + arguments.sequences, std::size_t{0});
  if (covered < arguments.tokens) {
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
