#include "pipelines/embed/window_means.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "pipelines/calls/text_frame.h"
#include "pipelines/embed/embedding_rows.h"
#include "tokenizers/encode.h"
#include "tokenizers/unicode/letter_case.h"

namespace alate::pipelines {
namespace {

using Ids = std::vector<std::int32_t>;

// A text is computed at most so many times.
constexpr std::size_t kMostRepeats = 8;

Ids ids_alone(const EmbeddingPipeline& pipeline, std::string_view text, const base::Cancellation& cancellation) {
  const EncodeOptions alone{.add_special_tokens = false, .with_offsets = false, .with_tokens = false};
  const bool lower_case = pipeline.state().modules.transformer.lower_case;
  const std::string lower = lower_case ? tokenizers::lower_cased(text) : std::string();
  return tokenizers::encode(pipeline.tokenizer(), lower_case ? std::string_view(lower) : text, alone, cancellation).ids;
}

}  // namespace

void read_in_windows(const EmbeddingPipeline& pipeline, std::span<const std::string_view> texts,
                     const EmbedOptions& options, const WindowFrame& frame, PreparedRows& prepared,
                     const base::Cancellation& cancellation) {
  if (prepared.truncated.empty()) return;
  const Frame around = frame_of(pipeline.tokenizer());
  Ids begin = around.before;
  if (!frame.prompt.empty()) {
    const Ids prompt = ids_alone(pipeline, frame.prompt, cancellation);
    begin.insert(begin.end(), prompt.begin(), prompt.end());
  }
  const std::size_t taken = begin.size() + around.after.size();
  if (taken >= frame.limit)
    throw make_error(ErrorCode::invalid_argument, "the prompt takes ", taken, " of the ", frame.limit,
                     " tokens of a row, and leaves no room for a window of the text");
  const std::size_t room = frame.limit - taken, stride = options.stride.value_or(room / 4);
  if (stride >= room)
    throw make_error(ErrorCode::invalid_argument, "the stride of ", stride, " tokens is not below the ", room,
                     " that a window has of the text");
  if (room / (room - stride) > kMostRepeats)
    throw make_error(ErrorCode::resource_exhausted, "windows of ", room, " tokens that share ", stride,
                     " repeat a text more than ", kMostRepeats, " times; take a smaller stride");
  TokenBudget budget(frame.most_tokens);
  std::vector<runtime::BatchRow> rows;
  std::size_t next_cut = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (next_cut == prepared.truncated.size() || prepared.truncated[next_cut] != i) {
      prepared.inputs.push_back(i);
      prepared.weights.push_back(1);
      budget.take(prepared.rows[i].ids.size());
      rows.push_back(std::move(prepared.rows[i]));
      continue;
    }
    ++next_cut;
    const Ids ids = ids_alone(pipeline, texts[i], cancellation);
    budget.take(window_count(ids.size(), room, stride) * frame.limit);
    for (std::size_t first = 0;; first += room - stride) {
      const std::span<const std::int32_t> part = std::span(ids).subspan(first, std::min(room, ids.size() - first));
      runtime::BatchRow& row = rows.emplace_back(runtime::BatchRow{.ids = begin, .pool_skip = frame.pool_skip});
      row.ids.insert(row.ids.end(), part.begin(), part.end());
      row.ids.insert(row.ids.end(), around.after.begin(), around.after.end());
      prepared.inputs.push_back(i);
      prepared.weights.push_back(std::max<std::size_t>(part.size(), 1));
      if (first + room >= ids.size()) break;
    }
  }
  prepared.rows = std::move(rows);
  prepared.truncated.clear();
}

std::size_t join_windows(const EmbeddingPipeline& pipeline, const EmbedOptions& options,
                         std::span<const std::size_t> inputs, std::span<const std::size_t> weights,
                         std::span<float> vectors) {
  if (inputs.empty()) return vectors.size();
  const std::size_t width = vectors.size() / inputs.size();
  std::size_t texts = 0;
  for (std::size_t begin = 0, end = 0; begin < inputs.size(); begin = end) {
    std::vector<double> sum(width);
    double weight = 0;
    for (; end < inputs.size() && inputs[end] == inputs[begin]; ++end) {
      weight += static_cast<double>(weights[end]);
      for (std::size_t i = 0; i < width; ++i)
        sum[i] += static_cast<double>(weights[end]) * static_cast<double>(vectors[end * width + i]);
    }
    const std::span<float> mean = vectors.subspan(texts++ * width, width);  // never behind what is still to be read
    if (end - begin == 1) {
      std::copy_n(vectors.begin() + static_cast<std::ptrdiff_t>(begin * width), width, mean.begin());
      continue;
    }
    double scale = 1 / weight;
    if (normalizes(pipeline, options)) {
      double squares = 0;
      for (const double each : sum) squares += each * each;
      scale = 1 / std::max(std::sqrt(squares), 1e-12);
    }
    for (std::size_t i = 0; i < width; ++i) mean[i] = static_cast<float>(sum[i] * scale);
  }
  return texts * width;
}

}  // namespace alate::pipelines
