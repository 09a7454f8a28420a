// Attention, dense and packed, the gradient of the dense one, and pooling of packed rows.
#include "graph/operands.h"
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
      std::vector<Operand> given = operands_of(form.dtype,
                                               {{s.batch, s.queries, s.heads, s.width},
                                                {s.batch, s.keys, s.kv_heads, s.width},
                                                {s.batch, s.keys, s.kv_heads, s.value_width}},
                                               {"units"});
      graph::AttentionOperands<Operand> operands{.query = given[0], .key = given[1], .value = given[2]};
      if (variant.has_lengths) operands.lengths = {.shape = {DType::i32, {s.batch}}, .values = {"places", s.keys + 1}};
      if (variant.has_bias) operands.bias = {.shape = {form.dtype, {1, s.heads, s.queries, s.keys}}};
      if (variant.has_sinks) operands.sinks = {.shape = {form.dtype, {s.heads}}};
      cases.push_back({.op = form.op.op, .operands = operands.list(), .attributes = variant});
    }
  }
  return cases;
}

Cases attention_gradient_cases(const Form& form) {
  Cases cases = attention_cases(form);
  for (Case& subject : cases) {
    // A bias is repeated along the batch, and half of them along heads.
    const auto& attention = std::get<Attention>(subject.attributes);
    const auto bias = graph::places_of<graph::AttentionOperands>(attention).bias;
    if (bias && !attention.has_sinks) subject.operands[*bias].shape.dims[1] = 1;
    Shape gradient = subject.operands[0].shape;
    gradient.dims[3] = subject.operands[2].shape.dims[3];
    subject.operands.push_back({.shape = gradient, .values = {"units"}});
  }
  return cases;
}

Cases ragged_attention_cases(const Form& form) {
  Cases cases;
  const auto add = [&](const graph::RaggedAttentionOperands<Operand>& operands, const Attention& attributes) {
    cases.push_back({.op = form.op.op, .operands = operands.list(), .attributes = operands.flagged(attributes)});
  };
  // The last ones have tokens of no sequence.
  for (const auto& [tokens, sequences, longest] :
       {std::tuple<std::int64_t, std::int64_t, std::int64_t>{6, 3, 3}, {1, 1, 1}, {7, 2, 5}, {70, 3, 40}, {9, 2, 3}}) {
    for (Attention variant : variants()) {
      variant.longest = longest;
      const std::vector<Operand> given =
          operands_of(form.dtype, {{tokens, 4, 8}, {tokens, 2, 8}, {tokens, 2, 6}}, {"units"});
      graph::RaggedAttentionOperands<Operand> operands{.query = given[0], .key = given[1], .value = given[2]};
      operands.starts = {.shape = {DType::i32, {sequences}}, .values = {"starts", longest}};
      operands.lengths = {.shape = {DType::i32, {sequences}}, .values = {"lengths", longest}};
      if (variant.has_lengths)
        operands.key_lengths = {.shape = {DType::i32, {sequences}}, .values = {"places", longest + 1}};
      if (variant.has_bias) operands.bias = {.shape = {form.dtype, {1, 4, longest, longest}}};
      if (variant.has_sinks) operands.sinks = {.shape = {form.dtype, {4}}};
      add(operands, variant);
      for (const auto& [by_query, by_key] : {std::pair{true, false}, {false, true}, {true, true}}) {
        graph::RaggedAttentionOperands<Operand> distant = operands;
        const Operand scores{.shape = {form.dtype, {4, tokens, 2, longest}}};
        if (by_query) distant.query_distances = scores;
        if (by_key) distant.key_distances = scores;
        add(distant, variant);
        if (!by_key) continue;
        distant.key_distances->shape.dims[1] = 1;
        add(distant, variant);
      }
      if (!operands.bias) continue;
      for (const std::int64_t heads : {1, 4}) {
        operands.bias->shape.dims = {sequences, heads, longest, longest};
        add(operands, variant);
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
