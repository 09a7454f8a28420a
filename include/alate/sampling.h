// How the tokens of a text are chosen from a language model's logits, and where the text ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace alate {

/// Mirostat keeps the surprise of a text near a target: Basu et al. 2021, "Mirostat: a neural text decoding algorithm
/// that directly controls perplexity". Version 1 estimates the number of tokens to keep from the slope of their
/// probabilities, version 2 keeps those whose own surprise is at most the current limit.
enum class Mirostat : std::uint8_t { off = 0, version_1 = 1, version_2 = 2 };

/// How a token is chosen. The defaults sample from the model's own distribution; a model's own defaults come from its
/// generation_config.json.
///
/// A row of logits goes through these steps, in this order, which is that of llama.cpp:
///  1. forbidden: tokens outside the mask of allowed tokens, `suppressed_tokens`, `first_suppressed_tokens`,
///     `bad_words`, and tokens that would end the text before StoppingOptions::min_tokens,
///  2. `logit_bias`,
///  3. penalties: repetition, then presence and frequency,
///  4. DRY,
///  5. top_n_sigma, 6. top_k, 7. typical_p, 8. top_p, 9. min_p, 10. XTC: each leaves a part of the tokens that the step
///     before it left, and measures probabilities among those,
///  11. temperature,
///  12. a draw from the tokens that are left.
/// With `temperature` 0, the token with the greatest logit after step 4 is chosen, of equal ones that with the smallest
/// id; steps 5 to 12 do not happen. With Mirostat, steps 5 to 10 do not happen, and Mirostat follows the temperature.
/// Where probabilities or logits are equal, the steps keep the smaller ids.
///
/// The same seed, options, prompt and logits give the same tokens, whatever else is computed at the same time: token
/// number i of a text (from 0) is drawn with the block of Philox-4x32-10 (Salmon et al. 2011) whose key is the seed and
/// whose counter is i, with the number of the text among several of one request in the counter's high half. Its first
/// two words draw the token, the other two decide about XTC. Other arithmetic is plain float and double, without
/// functions that differ by platform where a draw depends on them.
///
/// Ranges are checked before the first token; an error (invalid_argument) names the option, its value and its range.
/// NaN is in no range.
struct SamplingOptions {
  /// Divides the logits: below 1 likely tokens become likelier. 0 to 100; 0: greedy.
  double temperature = 1;
  /// Above 0, the temperature follows the entropy of the tokens that are left, H, and lies between temperature - range
  /// (at least 0) and temperature + range: least + (most - least) * (H / log(number of tokens)) ^ exponent. 0 to 100.
  double dynamic_temperature_range = 0;
  double dynamic_temperature_exponent = 1;  // 0 to 100

  /// Keeps logits of at least the greatest minus so many standard deviations of all logits that are not forbidden
  /// (Tang et al. 2024, "Top-nsigma"). -1 to 1000; 0 and -1: all.
  double top_n_sigma = 0;
  /// Keeps so many tokens with the greatest logits. Up to 2^31 - 1; 0 and -1: all.
  std::int64_t top_k = 0;
  /// Keeps the tokens whose surprise is nearest to the entropy, until their probabilities add up to this (Meister et
  /// al. 2022, "Locally typical sampling"). 0 to 1; 1: all.
  double typical_p = 1;
  /// Keeps the fewest likeliest tokens whose probabilities add up to at least this. 0 to 1; 1: all.
  double top_p = 1;
  /// Keeps tokens that are at least this many times as probable as the likeliest. 0 to 1; 0: all.
  double min_p = 0;
  /// The number of tokens that top_p, min_p, typical_p and XTC leave at least. 1 to 2^31 - 1.
  std::int64_t min_keep = 1;

  /// A token of the window, prompt and generated, has its logit divided by this where it is positive and multiplied
  /// where it is negative, once (Keskar et al. 2019, "CTRL"). 0.01 to 100; 1: none.
  double repetition_penalty = 1;
  /// Is subtracted from the logit of a token that was generated in the window. -100 to 100; 0: none.
  double presence_penalty = 0;
  /// The same, times how often it was generated there.
  double frequency_penalty = 0;
  /// The number of tokens before the one to choose that the three penalties look at. 0 to 2^31 - 1; -1: all.
  std::int64_t penalty_window = -1;
  /// Whether presence and frequency penalties count the window's tokens of the prompt too, as those of llama.cpp do; as
  /// OpenAI and vLLM define these penalties, they do not.
  bool penalize_prompt = false;

  /// DRY, "don't repeat yourself": where a token would continue a repetition of n tokens (the last n tokens of the
  /// window are also before an earlier place of it), multiplier * base ^ (n - allowed length) is subtracted from its
  /// logit, if n is at least the allowed length. Multiplier: 0 to 1000; 0: none. Base: 1 to 100. Length: 1 to 2^31 - 1
  /// tokens. Window: 0 to 2^31 - 1 tokens; -1: all.
  double dry_multiplier = 0;
  double dry_base = 1.75;
  std::int64_t dry_allowed_length = 2;
  std::int64_t dry_window = -1;
  /// A repetition does not go back over these texts. At most 64 of 1 to 40 bytes.
  std::vector<std::string> dry_sequence_breakers = {"\n", ":", "\"", "*"};

  /// XTC, "exclude top choices": with this probability, all tokens but the least likely are removed of those that are
  /// at least as probable as the threshold. Both 0 to 1; probability 0 and thresholds above 0.5: none.
  double xtc_probability = 0;
  double xtc_threshold = 0.1;

  Mirostat mirostat = Mirostat::off;
  double mirostat_tau = 5;    // target surprise in bits; 0 to 100
  double mirostat_eta = 0.1;  // learning rate; 0 to 10

  /// Added to the logits of these tokens: -100 to 100, or minus infinity, which forbids the token. At most 16,384
  /// entries; those of one token add up.
  std::vector<std::pair<std::int32_t, double>> logit_bias = {};
  /// Tokens that are never chosen, and tokens that are not chosen first. At most 16,384 each.
  std::vector<std::int32_t> suppressed_tokens = {};
  std::vector<std::int32_t> first_suppressed_tokens = {};
  /// Sequences that the text, prompt included, never completes: at most 1,024 of 1 to 64 tokens.
  std::vector<std::vector<std::int32_t>> bad_words = {};

  /// Absent: each text gets a random seed.
  std::optional<std::uint64_t> seed = {};

  /// Absent: no log probabilities. A number: that of each chosen token, and the so many most probable ones with theirs,
  /// 0 to 128. They are natural logarithms, and of the model's own distribution, before any of the steps above, as
  /// OpenAI's and vLLM's are: options of sampling do not change them, and a chosen token need not be among the most
  /// probable.
  std::optional<std::int64_t> logprobs = {};
};

/// Where a text ends. Ranges are checked and reported as those of SamplingOptions.
struct StoppingOptions {
  /// The number of tokens after which the text ends, those that end it included. 0 to 2^31 - 1; absent: the model's
  /// context is the limit.
  std::optional<std::int64_t> max_tokens = {};
  /// Before so many tokens were generated, none is chosen that would end the text, and texts of `stop` do not end it. 0
  /// to 2^31 - 1; max_tokens ends it all the same.
  std::int64_t min_tokens = 0;
  /// Texts that end it where they first appear in it, also across tokens; where several end at the same place, the
  /// longest is the one that counts. At most 64 of 1 to 1,024 bytes of UTF-8.
  std::vector<std::string> stop = {};
  /// Whether the text keeps the stop text that ended it.
  bool include_stop = false;
  /// Tokens that end it, besides the model's own; their text is not part of it. At most 256.
  std::vector<std::int32_t> stop_token_ids = {};
  /// The model's own end tokens are tokens like others.
  bool ignore_eos = false;
};

enum class FinishReason : std::uint8_t {
  end_of_sequence,  // the model's own end token
  stop_token,       // one of StoppingOptions::stop_token_ids
  stop_text,        // one of StoppingOptions::stop
  length,           // StoppingOptions::max_tokens, or the end of the context
};
/// "end_of_sequence", "stop_token", "stop_text" or "length".
std::string_view to_string(FinishReason reason);

struct TokenLogprob {
  std::int32_t token = 0;
  float logprob = 0;  // natural logarithm of the probability; minus infinity for a token that the model excludes

  friend bool operator==(const TokenLogprob&, const TokenLogprob&) = default;
};

}  // namespace alate
