#include "runtime/decoding/greedy.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "alate/error.h"
#include "runtime/loading/loaded_model.h"
#include "runtime/loading/packed_forward.h"
#include "runtime/loading/step_program.h"

namespace alate::runtime {
namespace {

// A text that grows.
struct Text {
  std::size_t row = 0;
  std::vector<std::int32_t> ids, pages;
  std::size_t cached = 0;
};

// Of equal ones the first.
std::int32_t most_likely(std::span<const float> logits, std::size_t row) {
  std::size_t best = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (logits[i] != logits[i])
      throw make_error(ErrorCode::corrupt, "row ", row, ": the model gives logits that are not numbers");
    if (logits[i] > logits[best]) best = i;
  }
  return static_cast<std::int32_t>(best);
}

// All the texts together, step by step.
void continue_texts(const StepProgram& program, const models::EncoderLimits& limits, std::span<Text> texts,
                    std::size_t count, const backends::RunOptions& options) {
  std::size_t pages = 0;
  for (Text& text : texts) {
    for (std::size_t i = 0; i < StepProgram::pages_of(text.ids.size() + count - 1); ++i)
      text.pages.push_back(static_cast<std::int32_t>(pages++));
  }
  CachePages cache = program.make_cache(pages);
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<StepSequence> sequences;
    for (const Text& text : texts)
      sequences.push_back(
          {.ids = std::span(text.ids).subspan(text.cached), .cached = text.cached, .pages = text.pages});
    const Tensor logits = program.run(sequences, cache, options);
    const std::span<const float> values = logits.values<float>();
    const std::size_t width = values.size() / texts.size();
    for (std::size_t t = 0; t < texts.size(); ++t) {
      texts[t].ids.push_back(most_likely(values.subspan(t * width, width), texts[t].row));
      const std::size_t before = texts[t].ids.size() - 1, now = texts[t].ids.size();
      const bool keeps = limits.keeps_keys(static_cast<std::int64_t>(before), static_cast<std::int64_t>(now));
      texts[t].cached = keeps ? before : 0;
    }
  }
}

}  // namespace

Tensor greedy_ids(const Model::State& model, const NamedTensors& inputs, std::size_t count,
                  const backends::RunOptions& options) {
  const std::vector<std::vector<std::int32_t>> rows = visible_rows(inputs, model.limits());
  const std::shared_ptr<const StepProgram> program = model.step_program();
  std::vector<Text> texts;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (rows[row].empty()) continue;
    if (rows[row].size() + count - 1 > static_cast<std::size_t>(model.limits().positions))
      throw make_error(ErrorCode::invalid_argument, "row ", row, " has ", rows[row].size(), " tokens, which with ",
                       count, " more are above the ", model.limits().positions, " positions that the model has");
    texts.push_back({.row = row, .ids = rows[row], .pages = {}});
  }
  Tensor result =
      Tensor::zeros({DType::i64, {static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(count)}});
  // So many at a time that neither a run nor the cache gets large.
  const std::size_t most_tokens = program->batch_hint().rows;
  for (std::span<Text> rest = texts; !rest.empty();) {
    std::size_t taken = 0, tokens = 0;
    while (taken < rest.size() && (taken == 0 || tokens + rest[taken].ids.size() + count <= most_tokens))
      tokens += rest[taken++].ids.size() + count;
    const std::span<Text> batch = rest.first(taken);
    continue_texts(*program, model.limits(), batch, count, options);
    for (Text& text : batch) {
      std::ranges::copy(std::span(text.ids).last(count),
                        result.mutable_values<std::int64_t>().subspan(text.row * count, count).begin());
      text = Text();
    }
    rest = rest.subspan(taken);
  }
  return result;
}

}  // namespace alate::runtime
