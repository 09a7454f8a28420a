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
  AttentionArguments arguments;
  arguments.heads = extent_of(query, query.rank() - 2);
  arguments.kv_heads = extent_of(value, value.rank() - 2);
  arguments.head_size = extent_of(query, query.rank() - 1);
  arguments.value_size = extent_of(value, value.rank() - 1);
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
void check_lengths(const Step& step, const AttentionArguments& arguments, std::size_t longest) {
  check_sequences(arguments.starts, arguments.lengths, arguments.sequences, arguments.tokens);
  const std::int32_t* lengths = arguments.lengths;
  if (std::any_of(lengths, lengths + arguments.sequences,
                  [&](std::int32_t length) { return static_cast<std::size_t>(length) > longest; })) {
    throw make_error(ErrorCode::invalid_argument, graph::to_string(step.operation->op),
                     ": a sequence is longer than `longest`, ", longest);
  }
}

// The keys that each sequence's queries see lie in pages of the cache, and the queries are among its keys.
void check_pages(const AttentionArguments& arguments, std::size_t pages) {
  const KeySource& k = arguments.k;
  for (std::size_t i = 0; i < arguments.sequences; ++i) {
    const std::int64_t queries = arguments.lengths[i], keys = arguments.key_lengths[i];
    if (queries == 0) continue;
    if (keys < queries || static_cast<std::size_t>(keys) > k.most_pages * k.page_rows) {
      throw make_error(ErrorCode::invalid_argument, "paged_attention: sequence ", i, " has ", keys, " keys for ",
                       queries, " queries in a table of ", k.most_pages, " pages of ", k.page_rows,
                       " rows; key lengths count the queries' own tokens");
    }
    const std::int32_t* first = k.table + i * k.most_pages;
    const auto used = (static_cast<std::size_t>(keys) + k.page_rows - 1) / k.page_rows;
    for (std::size_t n = first_seen_key(arguments, keys - queries) / k.page_rows; n < used; ++n) {
      if (first[n] >= 0 && static_cast<std::size_t>(first[n]) < pages) continue;
      throw make_error(ErrorCode::invalid_argument, "paged_attention: entry ", n, " of sequence ", i,
                       "'s table is page ", first[n], ", but the cache has ", pages);
    }
  }
}

StoredNumbers stored_numbers(DType dtype) {
  switch (dtype) {
    case DType::f16: return StoredNumbers::f16;
    case DType::bf16: return StoredNumbers::bf16;
    case DType::i8: return StoredNumbers::i8;
    default: return StoredNumbers::f32;
  }
}

// Whether some tokens are of no sequence; their results are zeros.
bool leaves_tokens(const AttentionArguments& arguments) {
  const std::int32_t* lengths = arguments.lengths;
  return std::accumulate(lengths, lengths + arguments.sequences, std::size_t{0}) < arguments.tokens;
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
  arguments.k = {.base = values.in(at.key), .stride = arguments.kv_heads * arguments.head_size};
  arguments.v = {.base = values.in(at.value), .stride = arguments.kv_heads * arguments.value_size};
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
  arguments.q_head_stride = frame.block_stride(query);
  const auto rows = [&](std::size_t place, SlotId slot) {
    return KeySource{
        .base = values.in(place), .stride = frame.row_stride(slot), .head_stride = frame.block_stride(slot)};
  };
  arguments.k = rows(at.key, key);
  arguments.v = rows(at.value, value);
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
  check_lengths(step, arguments, arguments.distance_reach);
  if (leaves_tokens(arguments)) {
    const std::size_t count = count_of(frame.shape(step.output()));
    if (rounds_result)
      std::fill_n(arguments.halves, count, std::uint16_t{0});
    else
      std::fill_n(arguments.out, count, 0.0f);
  }
  attend_sequences(arguments, frame.pool, frame.max_workers);
  if (!rounds_result) values.finish();
}

std::size_t paged_attention_scratch(const Step& step, const Binding& binding, std::size_t /*index*/) {
  const auto at = graph::places_of<graph::PagedAttentionOperands>(std::get<graph::Attention>(step.attributes));
  std::size_t bytes = 0;
  const auto add = [&](SlotId slot) {  // the cache is read as it is stored
    const Shape& shape = binding.shapes[slot];
    if (is_half(shape.dtype)) bytes += widened_bytes(count_of(shape));
  };
  add(step.inputs[at.query]);
  if (at.sinks) add(step.inputs[*at.sinks]);
  add(step.output());
  return bytes;
}

void run_paged_attention(const Step& step, const Frame& frame) {
  const auto& attention = std::get<graph::Attention>(step.attributes);
  const auto at = graph::places_of<graph::PagedAttentionOperands>(attention);
  const Shape &query = frame.shape(step.inputs[at.query]), &key = frame.shape(step.inputs[at.key]),
              &value = frame.shape(step.inputs[at.value]), &table = frame.shape(step.inputs[at.table]);
  WidenedValues values(step, frame);
  AttentionArguments arguments = arguments_of(attention, query, value);
  arguments.q = values.in(at.query);
  arguments.q_stride = arguments.heads * arguments.head_size;
  const auto pages = [&](std::size_t place, std::optional<std::size_t> scales, std::size_t size) {
    return KeySource{.base = frame.in<std::byte>(step.inputs[place]),
                     .stride = arguments.kv_heads * size,
                     .numbers = stored_numbers(key.dtype),
                     .scales = scales ? frame.in<float>(step.inputs[*scales]) : nullptr,
                     .scale_stride = arguments.kv_heads,
                     .table = frame.in<std::int32_t>(step.inputs[at.table]),
                     .most_pages = extent_of(table, 1),
                     .page_rows = extent_of(key, 1)};
  };
  static_assert(kAttentionKeys % graph::kMostPageRows == 0);  // no page is in two tiles
  arguments.k = pages(at.key, at.key_scales, arguments.head_size);
  arguments.v = pages(at.value, at.value_scales, arguments.value_size);
  arguments.starts = frame.in<std::int32_t>(step.inputs[at.starts]);
  arguments.lengths = frame.in<std::int32_t>(step.inputs[at.lengths]);
  arguments.key_lengths = frame.in<std::int32_t>(step.inputs[at.key_lengths]);
  arguments.sequences = extent_of(table, 0);
  arguments.tokens = extent_of(query, 0);
  if (at.sinks) arguments.sinks = values.in(*at.sinks);
  arguments.out = values.out();
  arguments.out_stride = arguments.heads * arguments.value_size;
  check_lengths(step, arguments, static_cast<std::size_t>((*frame.binding.dims)(attention.longest)));
  check_pages(arguments, extent_of(key, 0));
  if (leaves_tokens(arguments)) std::fill_n(arguments.out, count_of(frame.shape(step.output())), 0.0f);
  attend_sequences(arguments, frame.pool, frame.max_workers);
  values.finish();
}

}  // namespace alate::cpu
