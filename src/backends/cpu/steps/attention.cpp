#include "backends/cpu/kernels/attention.h"

#include <algorithm>
#include <numeric>

#include "alate/error.h"
#include "backends/cpu/steps/steps.h"

namespace alate::cpu {

void run_ragged_attention(const Step& step, const Frame& frame) {
  const auto& attention = std::get<graph::Attention>(step.attributes);
  const Shape &query = frame.shape(step.inputs[0]), &value = frame.shape(step.inputs[2]);
  RaggedAttentionArguments arguments;
  arguments.q = frame.in<float>(step.inputs[0]);
  arguments.q_stride = frame.row_stride(step.inputs[0]);
  arguments.k = frame.in<float>(step.inputs[1]);
  arguments.k_stride = frame.row_stride(step.inputs[1]);
  arguments.v = frame.in<float>(step.inputs[2]);
  arguments.v_stride = frame.row_stride(step.inputs[2]);
  arguments.out = frame.out<float>(step.output());
  arguments.out_stride = frame.row_stride(step.output());
  arguments.starts = frame.in<std::int32_t>(step.inputs[3]);
  arguments.lengths = frame.in<std::int32_t>(step.inputs[4]);
  arguments.sequences = extent_of(frame.shape(step.inputs[3]), 0);
  arguments.heads = extent_of(query, 1);
  arguments.kv_heads = extent_of(value, 1);
  arguments.head_size = extent_of(query, 2);
  arguments.value_size = extent_of(value, 2);
  arguments.scale = static_cast<float>(attention.scale);
  arguments.soft_cap = static_cast<float>(attention.soft_cap);
  arguments.causal = attention.causal;
  arguments.window_left = attention.window_left;
  arguments.window_right = attention.window_right;
  std::size_t next = 7;
  if (attention.has_lengths) arguments.key_lengths = frame.in<std::int32_t>(step.inputs[next++]);
  const std::size_t tokens = extent_of(query, 0), longest = extent_of(frame.shape(step.inputs[5]), 1);
  if (attention.has_bias) {
    const Shape& bias = frame.shape(step.inputs[next]);
    arguments.bias = frame.in<float>(step.inputs[next++]);
    arguments.bias_query_stride = longest;
    arguments.bias_head_stride = bias.dims[1] == Dim(1) ? 0 : longest * longest;
  }
  if (attention.has_sinks) arguments.sinks = frame.in<float>(step.inputs[next]);
  check_sequences(arguments.starts, arguments.lengths, arguments.sequences, tokens);
  const std::int32_t* lengths = arguments.lengths;
  if (attention.has_bias && std::any_of(lengths, lengths + arguments.sequences, [&](std::int32_t length) {
        return static_cast<std::size_t>(length) > longest;
      })) {
    throw make_error(ErrorCode::invalid_argument, "ragged_attention: a sequence is longer than pad_index has places, ",
                     longest);
  }
  const auto covered = std::accumulate(lengths, lengths + arguments.sequences, std::size_t{0});
  if (covered < tokens) std::fill_n(arguments.out, count_of(frame.shape(step.output())), 0.0f);
  ragged_attention(arguments, frame.pool, frame.max_workers);
}

}  // namespace alate::cpu
