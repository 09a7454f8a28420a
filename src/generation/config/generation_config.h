// generation_config.json: how a model's publisher would generate. Its contents are untrusted.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alate/sampling.h"
#include "formats/json.h"

namespace alate::generation {

/// The defaults of a model; a caller changes the options that it has a wish for. Keys that are absent or null leave the
/// defaults of alate/sampling.h, where transformers has others in places (top_k 50, do_sample false): as in vLLM, only
/// stated values count.
struct GenerationConfig {
  /// temperature, top_k, top_p, min_p, typical_p, repetition_penalty; suppress_tokens, begin_suppress_tokens and
  /// bad_words_ids (without those that are an end token only). With `"do_sample": false` the temperature is 0.
  SamplingOptions sampling = {};
  /// max_new_tokens, min_new_tokens, stop_strings.
  StoppingOptions stopping = {};
  std::vector<std::int32_t> end_tokens = {};  // eos_token_id, a number or a list
  std::optional<std::int32_t> pad_token = {}, bos_token = {};
  /// Whether the file says anything of how tokens are chosen: do_sample or one of the numbers of `sampling`.
  bool states_sampling = false;
  /// The length of prompt and text together.
  std::optional<std::int64_t> max_length = {}, min_length = {};
  /// Keys whose values would change what is generated, and that have no effect here: "num_beams".
  std::vector<std::string> without_effect = {};

  /// `asked` for a prompt of so many tokens: where it has no number of new tokens, the lengths give it.
  StoppingOptions within_lengths(StoppingOptions asked, std::int64_t prompt_tokens) const;
};

/// eos_token_id of a model's file: a number, a list or nothing. Throws corrupt, naming the file and the key.
std::vector<std::int32_t> read_end_tokens(const formats::Json& json, std::string_view file);

/// The file in a model's folder; defaults if there is none. Throws corrupt, naming file and key, for a value of the
/// wrong type or out of its range, for lists beyond the bounds of alate/sampling.h and for more than 256 end tokens;
/// unsupported for forced_bos_token_id and forced_eos_token_id.
GenerationConfig read_generation_config(const std::filesystem::path& folder);

/// Parses the file's text; `name` is for messages.
GenerationConfig parse_generation_config(std::string_view text, const std::string& name);

}  // namespace alate::generation
