// Attention, dense and packed, the gradient of the dense one, and pooling of packed rows.
#include "tests/conformance/cases/cases.h"

namespace alate::conformance {
namespace {

using graph::Attention;
using graph::Dims;

const std::vector<Attention>& variants() {
  static const std::vector<Attention> all = {
      {.scale = 0.5},
      {.scale = 0.5, .causal = true},
      {.scale = 0.1, .has_lengths = true},
      {.scale = 0.5, .has_bias = true},
      {.scale = 0.5, .has_sinks = true, .causal = true},
      {.scale = 1, .window_left = 1, .window_right = 0},
      {.scale = 0.5, .window_left = -1, .window_right = 1},
      {.scale = 0.2, .has_lengths = true, .has_bias = true, .has_sinks = true, .window_left = 2, .soft_cap = 3.5},
      {.scale = 0.5, .rounds_operands = true},
  };
  return all;
}

}  // namespace

Cases attention_cases(const Form& form) {
  struct Sizes {
    std::int64_t batch, queries, keys, heads, kv_heads, width, value_width;
  };
  Cases cases;
  const Sizes largest = form.is_for_speed() ? Sizes{4, 512, 512, 12, 12, 64, 64} : Sizes{1, 65, 130, 2, 1, 64, 64};
  for (const Sizes& s : {Sizes{2, 3, 5, 4, 2, 8, 6}, Sizes{1, 1, 1, 1, 1, 1, 1}, Sizes{2, 17, 17, 2, 2, 32, 32},
                         Sizes{0, 3, 3, 2, 1, 4, 4}, Sizes{1, 0, 3, 2, 1, 4, 4}, Sizes{1, 3, 0, 2, 1, 4, 4}, largest}) {
    for (const Attention& variant : variants()) {
      std::vector<Operand> operands = operands_of(form.dtype,
                                                  {{s.batch, s.queries, s.heads, s.width},
                                                   {s.batch, s.keys, s.kv_heads, s.width},
                                                   {s.batch, s.keys, s.kv_heads, s.value_width}},
                                                  {"units"});
      if (variant.has_lengths) operands.push_back({.shape = {DType::i32, {s.batch}}, .values = {"places", s.keys + 1}});
      if (variant.has_bias) operands.push_back({.shape = {form.dtype, {1, s.heads, s.queries, s.keys}}});
      if (variant.has_sinks) operands.push_back({.shape = {form.dtype, {s.heads}}});
      cases.push_back({.op = form.op.op, .operands = operands, .attributes = variant});
    }
  }
  return cases;
}

Cases attention_gradient_cases(const Form& form) {
  Cases cases = attention_cases(form);
  for (Case& subject : cases) {
    // A bias is repeated along the batch, and half of them along heads.
    const auto& attention = std::get<Attention>(subject.attributes);
    if (attention.has_bias && !attention.has_sinks) subject.operands[3].shape.dims[1] = 1;
    Shape gradient = subject.operands[0].shape;
    gradient.dims[3] = subject.operands[2].shape.dims[3];
    subject.operands.push_back({.shape = gradient, .values = {"units"}});
  }
  return cases;
}

Cases ragged_attention_cases(const Form& form) {
  Cases cases;
  for (const auto& [tokens, sequences, longest] :
       {std::tuple<std::int64_t, std::int64_t, std::int64_t>{6, 3, 3}, {1, 1, 1}, {7, 2, 5}, {70, 3, 40}}) {
    for (const Attention& variant : variants()) {
      std::vector<Operand> operands =
          operands_of(form.dtype, {{tokens, 4, 8}, {tokens, 2, 8}, {tokens, 2, 6}}, {"units"});
      operands.push_back({.shape = {DType::i32, {sequences}}, .values = {"starts", longest}});
      operands.push_back({.shape = {DType::i32, {sequences}}, .values = {"lengths", longest}});
      operands.push_back({.shape = {DType::i32, {sequences, longest}}, .values = {"pad_index", longest}});
      operands.push_back({.shape = {DType::i32, {tokens, 2}}, .values = {"unpad_index", longest}});
      if (variant.has_lengths)
        operands.push_back({.shape = {DType::i32, {sequences}}, .values = {"places", longest + 1}});
      if (variant.has_bias) operands.push_back({.shape = {form.dtype, {1, 4, longest, longest}}});
      if (variant.has_sinks) operands.push_back({.shape = {form.dtype, {4}}});
      cases.push_back({.op = form.op.op, .operands = operands, .attributes = variant});
      for (const auto& [by_query, by_key] : {std::pair{true, false}, {false, true}, {true, true}}) {
        Attention distant = variant;
        distant.has_query_distances = by_query;
        distant.has_key_distances = by_key;
        std::vector<Operand> more = operands;
        for (int i = 0; i < (by_query ? 1 : 0) + (by_key ? 1 : 0); ++i)
          more.push_back({.shape = {form.dtype, {4, tokens, 2, longest}}});
        cases.push_back({.op = form.op.op, .operands = more, .attributes = distant});
        if (!by_key) continue;
        more.back().shape.dims[1] = 1;
        cases.push_back({.op = form.op.op, .operands = more, .attributes = distant});
      }
      if (!variant.has_bias) continue;
      const std::size_t bias = variant.has_lengths ? 8 : 7;
      for (const std::int64_t heads : {1, 4}) {
        operands[bias].shape.dims = {sequences, heads, longest, longest};
        cases.push_back({.op = form.op.op, .operands = operands, .attributes = variant});
      }
    }
  }
  return cases;
}

Cases ragged_pool_cases(const Form& form) {
  Cases cases;
  for (const auto& [tokens, sequences, longest] :
       {std::tuple<std::int64_t, std::int64_t, std::int64_t>{6, 3, 4}, {1, 1, 1}, {0, 2, 3}, {3, 4, 2}, {70, 3, 40}}) {
    for (int number = 0; number <= static_cast<int>(graph::PoolMode::weighted_mean); ++number) {
      for (const std::int64_t width : {5, 64, 0}) {
        std::vector<Operand> operands = operands_of(form.dtype, {{tokens, width}});
        operands.push_back({.shape = {DType::i32, {sequences}}, .values = {"starts", longest}});
        operands.push_back({.shape = {DType::i32, {sequences}}, .values = {"lengths", longest}});
        cases.push_back({.op = form.op.op,
                         .operands = operands,
                         .attributes = graph::Pool{static_cast<graph::PoolMode>(number), longest}});
      }
    }
  }
  return cases;
}

}  // namespace alate::conformance
