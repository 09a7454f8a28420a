#include "models/blocks/decoder.h"

#include <cmath>

#include "alate/error.h"

namespace alate::models {

using formats::Json;

std::optional<std::int64_t> window_size(const Json& config, std::optional<std::int64_t> otherwise) {
  const Json* stated = config.find("sliding_window");
  if (stated == nullptr) return otherwise;
  if (stated->is_null()) return std::nullopt;
  const std::int64_t size = stated->as_int("sliding_window");
  if (size < 1) throw make_error(ErrorCode::corrupt, "config.json: sliding_window must be 1 or more");
  return size;
}

void set_window(RotaryConfig& config, std::size_t i, std::int64_t size) {
  config.layers[i].window = config.is_causal ? size - 1 : size;  // one of the causal ones is the token itself
}

void read_windows(const Json& config, std::optional<std::int64_t> otherwise,
                  bool (*by_number)(const Json& config, std::size_t i), RotaryConfig& read) {
  const std::optional<std::int64_t> size = window_size(config, otherwise);
  for (std::size_t i = 0; i < read.layers.size(); ++i) {
    if (!sees_window(config, i, by_number(config, i))) continue;
    if (!size)
      throw make_error(ErrorCode::corrupt, "config.json: layer ", i, " sees a window, and sliding_window is null");
    set_window(read, i, *size);
  }
}

double positive_number(const Json& config, std::string_view key, double otherwise) {
  const double value = config.get_double(key, otherwise);
  if (std::isfinite(value) && value > 0) return value;
  throw make_error(ErrorCode::corrupt, "config.json: ", key, " must be above 0");
}

double soft_cap(const Json& config, std::string_view key, double otherwise) {
  const Json* stated = config.find(key);
  if (stated == nullptr) return otherwise;
  return stated->is_null() ? 0 : positive_number(config, key, otherwise);
}

const Json& text_part(const Json& config) {
  const Json* part = config.find_value("text_config");
  if (part == nullptr) throw make_error(ErrorCode::corrupt, "config.json: text_config is missing");
  part->as_object("text_config");
  return *part;
}

EncoderOutputs next_token_logits(RotaryEncoder& encoder, graph::Value x) {
  return {{"logits", encoder.vocabulary_logits("lm_head", x)}};
}

}  // namespace alate::models
