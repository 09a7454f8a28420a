#include "pipelines/chunk/separators.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "alate/error.h"
#include "pipelines/recognize/recognize_run.h"
#include "pipelines/recognize/token_entities.h"

namespace alate::pipelines {

RecognizePipeline divider_of(const RecognizePipeline& recognizer) {
  if (recognizer.labels().empty() || std::ranges::find(recognizer.labels(), kOutside) != recognizer.labels().end())
    return recognizer;
  const auto state = std::make_shared<RecognizePipeline::State>(recognizer.state());
  state->labels.front() = kOutside;
  return RecognizePipeline(state);
}

RecognizeOptions separator_options(const RecognizePipeline& recognizer) {
  RecognizeOptions options;
  std::ranges::copy_if(recognizer.labels(), std::back_inserter(options.labels),
                       [](const std::string& label) { return label != kOutside; });
  if (options.labels.empty())
    throw Error(ErrorCode::unsupported,
                "the model has no labels of its own that end chunks; name a model for token classification, such as "
                "mirth/chonky_distilbert_uncased_1: classifier");
  // As the package chonky reads them; shorter rows have no room for it.
  constexpr std::size_t kLeastShared = 8;
  options.long_texts.treatment = LongTexts::windows;
  if (recognizer.max_length() >= kLeastShared) options.long_texts.stride = recognizer.max_length() / 2;
  return options;
}

std::vector<std::size_t> ends_of(std::span<const Entity> separators) {
  std::vector<std::size_t> ends;
  for (const Entity& separator : separators) ends.push_back(separator.byte_end);
  std::ranges::sort(ends);
  return ends;
}

std::vector<std::size_t> separator_ends(const RecognizePipeline& recognizer, std::string_view text,
                                        const base::Cancellation& cancellation) {
  const RecognizePipeline divider = divider_of(recognizer);
  RecognizeRun run(divider, {text}, separator_options(divider));
  PreparedRows prepared = run.prepare(cancellation);
  run_prepared(run, std::move(prepared), {}, {.cancellation = cancellation});
  return ends_of(run.entities().front());
}

}  // namespace alate::pipelines
