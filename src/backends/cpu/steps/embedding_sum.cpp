#include "backends/cpu/steps/embedding_sum.h"

#include <array>

#include "alate/error.h"
#include "backends/cpu/kernels/rows/embed_norm.h"
#include "backends/cpu/steps/steps.h"
#include "backends/cpu/steps/work.h"

namespace alate::cpu {
namespace {

// Rows of an addend before it repeats.
std::size_t period_of(const EmbeddingInput& input, const Shape& result) {
  std::size_t period = 1;
  for (std::size_t axis = input.first_axis; axis + 1 < result.rank(); ++axis) period *= extent_of(result, axis);
  return period;
}

EmbeddingAddend addend_of(const Step& step, const Frame& frame, const EmbeddingInput& input, const Shape& result) {
  const Shape& table = frame.shape(step.inputs[input.table]);
  EmbeddingAddend addend{.dtype = table.dtype, .table = frame.in<std::byte>(step.inputs[input.table])};
  addend.rows = addend.period = period_of(input, result);
  if (!input.indices) return addend;
  addend.rows = extent_of(table, 0);
  if (addend.rows == 0)
    throw make_error(ErrorCode::invalid_argument, "embed_norm: there are ", addend.period,
                     " rows to take but a table of ", to_string(table), " has none in this run");
  addend.indices = frame.in<std::byte>(step.inputs[*input.indices]);
  addend.has_wide_indices = frame.shape(step.inputs[*input.indices]).dtype == DType::i64;
  if (input.scales) addend.scales = frame.in<float>(step.inputs[*input.scales]);
  return addend;
}

}  // namespace

std::uint32_t embedding_rows(const Step& step) {
  std::uint32_t mask = 0;
  for (const EmbeddingInput& input : step.embeddings->addends) {
    if (input.first_axis == 0) mask |= std::uint32_t{1} << input.indices.value_or(input.table);
  }
  return mask;
}

void run_embed_norm(const Step& step, const Frame& frame) {
  const Shape& result = frame.shape(step.output());
  if (count_of(result) == 0) return;
  const std::vector<EmbeddingInput>& inputs = step.embeddings->addends;
  std::array<EmbeddingAddend, kMaxEmbeddingAddends> addends;
  for (std::size_t i = 0; i < inputs.size(); ++i) addends[i] = addend_of(step, frame, inputs[i], result);
  embed_norm({.addends = addends.data(),
              .count = inputs.size(),
              .scale = frame.in<float>(step.inputs[step.inputs.size() - 2]),
              .shift = frame.in<float>(step.inputs.back()),
              .epsilon = static_cast<float>(std::get<graph::Norm>(step.attributes).epsilon),
              .out = frame.out<float>(step.output()),
              .places = rows_of(result),
              .width = extent_of(result, result.rank() - 1)},
             frame.pool, frame.max_workers);
}

backends::Work embed_norm_work(const Step& step, const Frame& frame) {
  backends::Work work = layer_norm_work(step, frame);
  const Shape& result = frame.shape(step.output());
  const auto elements = static_cast<double>(count_of(result));
  const std::size_t norm = step.inputs.size() - 2;
  work.bytes = result_bytes(step, frame) + operand_bytes(step, frame, norm) + operand_bytes(step, frame, norm + 1);
  for (const EmbeddingInput& input : step.embeddings->addends) {
    if (input.scales) work.flops += elements;
    if (!input.indices) {
      work.bytes += operand_bytes(step, frame, input.table);
      continue;
    }
    const auto rows = static_cast<double>(extent_of(frame.shape(step.inputs[input.table]), 0)),
               taken = static_cast<double>(count_of(frame.shape(step.inputs[*input.indices])));
    double table = operand_bytes(step, frame, input.table);
    if (input.scales) table += operand_bytes(step, frame, *input.scales);
    work.bytes += operand_bytes(step, frame, *input.indices) + table / rows * taken;
  }
  work.flops += elements * static_cast<double>(step.embeddings->addends.size() - 1);
  return work;
}

}  // namespace alate::cpu
