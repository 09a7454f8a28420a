// GLiNER's prompt: the labels that are looked for, before the words of a text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "alate/tokenizer.h"
#include "base/threads/cancellation.h"
#include "models/heads/gliner_config.h"
#include "pipelines/calls/text_frame.h"
#include "pipelines/calls/text_model.h"

namespace alate::pipelines {

/// What is known of a GLiNER model besides its graph.
struct Gliner {
  models::GlinerConfig config;
  Frame frame;                                     // the special tokens around prompt and text
  std::int32_t label_marker = 0, text_marker = 0;  // before each label, and before the text
};

/// Throws corrupt for a tokenizer that cannot be that of the model.
Gliner read_gliner(const TextModel& model);

struct LabelPrompt {
  std::vector<std::string> labels = {};         // without repetitions, in other spellings of the same letters too
  std::vector<std::int32_t> ids = {};           // with the special tokens before it
  std::vector<std::int32_t> label_places = {};  // in `ids`: the token that stands for each label
};

/// Throws invalid_argument for no labels, for an empty one, for one with a marker in it, and for labels that would take
/// more than half of a row of `row_length` tokens.
LabelPrompt make_prompt(const TextModel& model, const Gliner& gliner, std::span<const std::string> labels,
                        std::size_t row_length, const base::Cancellation& cancellation);

}  // namespace alate::pipelines
