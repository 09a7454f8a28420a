// Ops over a paged cache: rows that are written, and attention over them.
#include "graph/operands.h"
#include "tests/conformance/cases/cases.h"

namespace alate::conformance {
namespace {

// The dtypes that are beside the form's.
std::vector<DType> stored_dtypes(const Form& form) {
  if (form.dtype == DType::i8) return {DType::i8};
  if (bits_of(form.dtype) == 16) return {DType::f32, DType::f16, DType::bf16};
  return {form.dtype, DType::f16};
}

}  // namespace

Cases write_pages_cases(const Form& form) {
  struct Sizes {
    std::int64_t pages, page_rows, heads, width, tokens;
  };
  Cases cases;
  for (const DType rows : stored_dtypes(form)) {
    for (const Sizes& s : {Sizes{3, 4, 2, 5, 7}, Sizes{1, 1, 1, 1, 1}, Sizes{2, 128, 1, 3, 30}, Sizes{0, 8, 2, 3, 2},
                           Sizes{3, 2, 1, 4, 0}, Sizes{form.large / 8192, 16, 8, 64, 60}}) {
      graph::WritePagesOperands<Operand> operands;
      operands.cache = {.shape = {form.dtype, {s.pages, s.page_rows, s.heads, s.width}}};
      operands.rows = {.shape = {rows, {s.tokens, s.heads, s.width}}};
      operands.slots = {.shape = {DType::i32, {s.tokens}}, .values = {"wild", s.pages * s.page_rows}};
      cases.push_back({.op = form.op.op, .operands = operands.list(), .attributes = graph::NoAttributes{}});
    }
  }
  return cases;
}

Cases paged_attention_cases(const Form& form) {
  struct Sizes {
    std::int64_t tokens, sequences, longest, pages, page_rows, most_pages;
  };
  const graph::Attention variants[] = {
      {.scale = 0.5},
      {.scale = 0.5, .causal = true},
      {.scale = 0.5, .has_sinks = true, .causal = true, .window_left = 3},
      {.scale = 0.2, .has_sinks = true, .window_left = 2, .window_right = 1, .soft_cap = 3.5},
  };
  Cases cases;
  // The fourth has tokens of no sequence, the last ones no pages, or none in the table.
  for (const Sizes& s : {Sizes{6, 3, 3, 7, 4, 2}, Sizes{1, 1, 1, 1, 1, 1}, Sizes{70, 3, 40, 5, 16, 10},
                         Sizes{9, 2, 3, 3, 128, 2}, Sizes{0, 2, 3, 0, 8, 1}, Sizes{0, 2, 3, 5, 8, 0}}) {
    for (graph::Attention variant : variants) {
      for (const DType cache : stored_dtypes(form)) {
        variant.longest = s.longest;
        graph::PagedAttentionOperands<Operand> operands;
        operands.query = {.shape = {form.dtype, {s.tokens, 4, 9}}, .values = {"units"}};
        operands.key = {.shape = {cache, {s.pages, s.page_rows, 2, 9}}, .values = {"units"}};
        operands.value = {.shape = {cache, {s.pages, s.page_rows, 2, 6}}, .values = {"units"}};
        operands.table = {.shape = {DType::i32, {s.sequences, s.most_pages}}, .values = {"pages", s.pages}};
        operands.starts = {.shape = {DType::i32, {s.sequences}}, .values = {"starts", s.longest}};
        operands.lengths = {.shape = {DType::i32, {s.sequences}}, .values = {"lengths", s.longest}};
        operands.key_lengths = {.shape = {DType::i32, {s.sequences}}, .values = {"cached", s.most_pages * s.page_rows}};
        if (variant.has_sinks) operands.sinks = {.shape = {form.dtype, {4}}};
        cases.push_back({.op = form.op.op, .operands = operands.list(), .attributes = operands.flagged(variant)});
        if (cache != form.dtype) continue;
        operands.key = {.shape = {DType::i8, {s.pages, s.page_rows, 2, 9}}};
        operands.value = {.shape = {DType::i8, {s.pages, s.page_rows, 2, 6}}};
        const Operand scales = {.shape = {DType::f32, {s.pages, s.page_rows, 2, 1}}, .values = {"units"}};
        operands.key_scales = operands.value_scales = scales;
        cases.push_back({.op = form.op.op, .operands = operands.list(), .attributes = operands.flagged(variant)});
      }
    }
  }
  return cases;
}

}  // namespace alate::conformance
