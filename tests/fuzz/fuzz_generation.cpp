// Any bytes are a generation_config.json or refused; JSON's members set options by their names or are refused; with
// options that are in their ranges, any logits give a token that is allowed, the same each time, or an error. However a
// text's bytes are divided, a TextStream shows the same valid UTF-8, without a stop text.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alate/error.h"
#include "base/split_text.h"
#include "formats/json.h"
#include "formats/utf8.h"
#include "generation/config/generation_config.h"
#include "generation/ending/text_stream.h"
#include "generation/options/check_options.h"
#include "generation/options/set_option.h"
#include "generation/sampling/sampler.h"

using namespace alate;

namespace {

constexpr std::size_t kMostLogits = 64;

// The bytes as floats, NaN and infinities among them; at least one.
std::vector<float> logits_of(std::string_view bytes) {
  std::vector<float> logits(std::clamp<std::size_t>(bytes.size() / sizeof(float), 1, kMostLogits));
  std::memcpy(logits.data(), bytes.data(), std::min(bytes.size(), logits.size() * sizeof(float)));
  return logits;
}

void check_choices(SamplingOptions options, const std::vector<float>& logits) {
  if (!options.seed.has_value()) options.seed = 1;
  try {
    generation::Sampler sampler(options, {.vocabulary_size = logits.size(), .end_tokens = {0}, .min_tokens = 1});
    sampler.add_prompt(std::vector<std::int32_t>{0, 1, 2, 0, 1});
    generation::SamplerWorkspace workspace;
    for (int i = 0; i < 8; ++i) {
      const generation::TokenChoice choice = sampler.choose(logits, workspace);
      if (choice.token < 0 || static_cast<std::size_t>(choice.token) >= logits.size()) std::abort();
      if (std::ranges::find(options.suppressed_tokens, choice.token) != options.suppressed_tokens.end()) std::abort();
      if (i == 0 && choice.token == 0) std::abort();
      if (sampler.choose(logits, workspace).token != choice.token) std::abort();
      sampler.accept(choice);
    }
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_argument && error.code() != ErrorCode::corrupt) std::abort();
  }
}

// JSON's own arithmetic on characters gives finite logits too, which bytes of text seldom are.
std::vector<float> small_logits(std::string_view bytes) {
  std::vector<float> logits;
  for (const char c : bytes.substr(0, kMostLogits)) logits.push_back(static_cast<float>(c) / 16);
  logits.resize(std::max<std::size_t>(logits.size(), 2));
  return logits;
}

void check_config(std::string_view text) {
  try {
    const generation::GenerationConfig config = generation::parse_generation_config(text, "generation_config.json");
    generation::check_options(config.within_lengths(config.stopping, 100));
    check_choices(config.sampling, small_logits(text));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::corrupt && error.code() != ErrorCode::resource_exhausted &&
        error.code() != ErrorCode::unsupported)
      std::abort();
  }
}

void check_options_of(std::string_view text) {
  formats::Json json;
  try {
    json = formats::parse_json(text, "options", {.max_values = 10'000});
  } catch (const Error&) {
    return;
  }
  if (!json.is_object()) return;
  SamplingOptions sampling;
  StoppingOptions stopping;
  try {
    for (const auto& [name, value] : json.as_object("options")) {
      if (!generation::set_option(sampling, name, value)) generation::set_option(stopping, name, value);
    }
    generation::check_options(stopping);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_argument) std::abort();
    return;
  }
  check_choices(sampling, logits_of(text));
  check_choices(sampling, small_logits(text));
}

struct Shown {
  std::string text;
  std::optional<std::size_t> stopped_by;

  friend bool operator==(const Shown&, const Shown&) = default;
};

// Pieces of 1 to `most` bytes, by the bytes themselves.
Shown shown(const std::vector<std::string>& stops, std::string_view bytes, std::size_t most) {
  generation::TextStream stream(stops);
  Shown result;
  while (!bytes.empty()) {
    const std::size_t size = std::min(bytes.size(), 1 + static_cast<unsigned char>(bytes.front()) % most);
    stream.push(bytes.substr(0, size), result.text);
    if (formats::valid_utf8_prefix(result.text) != result.text.size()) std::abort();
    bytes.remove_prefix(size);
  }
  stream.finish(result.text);
  result.stopped_by = stream.stopped_by();
  return result;
}

// The first lines are stop texts.
void check_stream(std::string_view text) {
  std::vector<std::string> stops;
  for (const std::string_view line : base::split_text(text.substr(0, 200), '\n')) {
    if (line.empty() || formats::valid_utf8_prefix(line) != line.size() || stops.size() == 3) break;
    stops.emplace_back(line);
  }
  const Shown whole = shown(stops, text, static_cast<std::size_t>(-1) / 2);
  for (const std::size_t most : {1U, 3U, 40U}) {
    if (shown(stops, text, most) != whole) std::abort();
  }
  for (const std::string& stop : stops) {
    if (whole.text.find(stop) != std::string::npos) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 4096) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_config(text);
  check_options_of(text);
  // The stop texts are a part of the text, so that it nearly always stops; its end by itself goes on longer.
  check_stream(text);
  check_stream(text.substr(size / 2));
  return 0;
}
