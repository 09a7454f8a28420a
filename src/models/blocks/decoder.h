// What the architectures of language models have in common, each given by a function that reads its config.json.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "formats/json.h"
#include "models/blocks/rotary_encoder.h"
#include "models/encoder.h"

namespace alate::models {

/// The number of tokens that layers with a window see, the token itself counted: `sliding_window`, or `otherwise` where
/// config.json does not have it. Absent where it is null. Throws corrupt for numbers below 1.
std::optional<std::int64_t> window_size(const formats::Json& config, std::optional<std::int64_t> otherwise);
/// Gives layer i a window of so many tokens.
void set_window(RotaryConfig& config, std::size_t i, std::int64_t size);
/// Windows for the layers of `layer_types` or, without such a list, for those that `by_number(i)` names. Throws as
/// window_size and sees_window, and corrupt where layers have a window of no size.
void read_windows(const formats::Json& config, std::optional<std::int64_t> otherwise,
                  bool (*by_number)(const formats::Json& config, std::size_t i), RotaryConfig& read);

/// A number above 0, or `otherwise` where config.json does not have it. Throws corrupt for others.
double positive_number(const formats::Json& config, std::string_view key, double otherwise);
/// Where soft caps are: a number above 0, 0 for null, or `otherwise`. Throws corrupt.
double soft_cap(const formats::Json& config, std::string_view key, double otherwise);

/// The settings of the language model within one that sees images too. Throws corrupt where there are none.
const formats::Json& text_part(const formats::Json& config);

/// {"logits"} of the vocabulary, by `lm_head` or the table of words.
EncoderOutputs next_token_logits(RotaryEncoder& encoder, graph::Value x);

template <RotaryConfig (*read)(const formats::Json&)>
RotaryConfig read_in_scope(EncoderScope& scope) {
  return read(scope.config);
}
template <RotaryConfig (*read)(const formats::Json&)>
EncoderLimits read_rotary_limits(const formats::Json& config) {
  return rotary_limits(read(config));
}

inline constexpr std::array kDecoderTied = {
    TiedWeights{"embed_tokens.weight", "lm_head.weight"},
};
template <RotaryConfig (*read)(const formats::Json&)>
inline constexpr std::array kNextTokenHead = {
    EncoderHead{kCausalHead, with_rotary<read_in_scope<read>, next_token_logits>},
};
template <RotaryConfig (*read)(const formats::Json&)>
inline constexpr std::array kConditionalNextTokenHead = {
    EncoderHead{kConditionalHead, with_rotary<read_in_scope<read>, next_token_logits>},
};

/// With the head …ForCausalLM; its table of logits is its own unless config.json says otherwise.
template <RotaryConfig (*read)(const formats::Json&)>
Architecture decoder(std::string_view model_type, std::string_view class_name, std::string_view examples) {
  return {.model_type = model_type,
          .class_name = class_name,
          .prefix = "model.",
          .limits = read_rotary_limits<read>,
          .entries = kDecodes<encode_rotary<read_in_scope<read>>>,
          .base = {"Model", with_rotary<read_in_scope<read>, hidden_state>},
          .heads = kNextTokenHead<read>,
          .tied = kDecoderTied,
          .ties_by_default = false,
          .examples = examples,
          .also_read = "`rope_theta` and `rope_scaling`, or `rope_parameters`"};
}

/// The text part of a model that sees images too; `read` is given the whole config.json.
template <RotaryConfig (*read)(const formats::Json&)>
Architecture wrapped_decoder(std::string_view model_type, std::string_view class_name, std::string_view examples) {
  Architecture row = decoder<read>(model_type, class_name, examples);
  row.prefix = "model.language_model.";
  row.heads = kConditionalNextTokenHead<read>;
  row.ties_by_default = true;
  row.also_read =
      "the text part's settings are those in `text_config`, its weights begin with `model.language_model.`, "
      "`language_model.model.` or `language_model.`; weights of images are not read";
  return row;
}

}  // namespace alate::models
