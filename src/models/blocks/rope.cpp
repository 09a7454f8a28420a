#include "models/blocks/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "alate/error.h"

namespace alate::models {
namespace {

using formats::Json;
using graph::Value;

const Json* object_member(const Json& object, std::string_view key) {
  const Json* found = object.find(key);
  return found != nullptr && found->is_object() ? found : nullptr;
}

double positive(const Json& part, std::string_view key, double otherwise) {
  const double value = part.get_double(key, otherwise);
  if (!std::isfinite(value) || value <= 0)
    throw make_error(ErrorCode::corrupt, "config.json: ", key, " of the rotary positions must be a number above 0");
  return value;
}

// What scales the frequencies: kind and its settings; null for none.
struct Stated {
  const Json* settings = nullptr;
  double theta = 0;
};

Stated find_settings(const Json& config, const RopeSource& source) {
  if (const Json* current = object_member(config, "rope_parameters")) {
    if (!source.layer_type.empty()) {
      const Json* of_type = object_member(*current, source.layer_type);
      if (of_type != nullptr) return {of_type, positive(*of_type, "rope_theta", source.theta)};
    }
    if (source.layer_type.empty() || current->find("rope_theta") != nullptr)
      return {current, positive(*current, "rope_theta", source.theta)};
  }
  return {source.is_scaled ? object_member(config, "rope_scaling") : nullptr,
          positive(config, source.theta_key, source.theta)};
}

// What GGUF states instead of the settings that they were computed from.
void divide_by_factors(const Json& settings, std::vector<double>& frequencies) {
  const Json* stated = settings.find("factors");
  if (stated == nullptr || !stated->is_array() || stated->as_array("factors").size() != frequencies.size())
    throw make_error(ErrorCode::corrupt, "config.json: factors of the rotary positions must be ", frequencies.size(),
                     " numbers");
  for (std::size_t i = 0; i < frequencies.size(); ++i) {
    const double factor = stated->as_array("factors")[i].as_double("factors");
    if (!std::isfinite(factor) || factor <= 0)
      throw make_error(ErrorCode::corrupt, "config.json: factors of the rotary positions must be numbers above 0");
    frequencies[i] /= factor;
  }
}

// Frequencies below a wavelength stay, those above another are divided, those between are mixed.
void scale_llama3(const Json& settings, std::int64_t positions, std::vector<double>& frequencies) {
  const double factor = positive(settings, "factor", 8), low = positive(settings, "low_freq_factor", 1),
               high = positive(settings, "high_freq_factor", 4);
  const double original = positive(settings, "original_max_position_embeddings", static_cast<double>(positions));
  if (high <= low) throw make_error(ErrorCode::corrupt, "config.json: high_freq_factor is not above low_freq_factor");
  for (double& frequency : frequencies) {
    const double length = 2 * std::numbers::pi / frequency;
    if (length < original / high) continue;
    if (length > original / low) {
      frequency /= factor;
    } else {
      const double smooth = (original / length - low) / (high - low);
      frequency = (1 - smooth) * frequency / factor + smooth * frequency;
    }
  }
}

// Peng et al. 2023, arXiv:2309.00071. Returns the scale of cosines and sines.
double scale_yarn(const Json& settings, double theta, std::int64_t width, std::int64_t positions,
                  std::vector<double>& frequencies) {
  const double original = positive(settings, "original_max_position_embeddings", static_cast<double>(positions));
  const double factor = positive(settings, "factor", static_cast<double>(positions) / original);
  const auto length_scale = [&](double of) { return factor <= 1 ? 1 : 0.1 * of * std::log(factor) + 1; };
  double scale = length_scale(1);
  const Json* stated = settings.find("attention_factor");
  if (stated != nullptr && !stated->is_null()) {
    scale = positive(settings, "attention_factor", 1);
  } else if (settings.get_double("mscale", 0) != 0 && settings.get_double("mscale_all_dim", 0) != 0) {
    scale = length_scale(positive(settings, "mscale", 1)) / length_scale(positive(settings, "mscale_all_dim", 1));
  }
  const auto pair_of_turns = [&](double turns) {
    return static_cast<double>(width) * std::log(original / (turns * 2 * std::numbers::pi)) / (2 * std::log(theta));
  };
  double low = pair_of_turns(positive(settings, "beta_fast", 32)),
         high = pair_of_turns(positive(settings, "beta_slow", 1));
  if (settings.get_bool("truncate", true)) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, static_cast<double>(width - 1));
  if (low == high) high += 0.001;
  for (std::size_t i = 0; i < frequencies.size(); ++i) {
    const double ramp = std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
    frequencies[i] = frequencies[i] / factor * ramp + frequencies[i] * (1 - ramp);
  }
  return scale;
}

}  // namespace

RopeSettings read_rope(const Json& config, const RopeSource& source, std::int64_t width, std::int64_t positions) {
  if (width < 2 || width % 2 != 0)
    throw make_error(ErrorCode::corrupt, "config.json: heads of ", width, " values cannot have rotary positions");
  const Stated stated = find_settings(config, source);
  std::vector<double> frequencies;
  for (std::int64_t i = 0; i < width; i += 2)
    frequencies.push_back(1 / std::pow(stated.theta, static_cast<double>(i) / static_cast<double>(width)));
  RopeSettings rope;
  const Json none;
  const Json& settings = stated.settings == nullptr ? none : *stated.settings;
  const std::string kind =
      settings.is_null() ? "default" : settings.get_string("rope_type", settings.get_string("type", "default"));
  if (kind == "linear") {
    const double factor = positive(settings, "factor", 1);
    for (double& frequency : frequencies) frequency /= factor;
  } else if (kind == "factors") {
    divide_by_factors(settings, frequencies);
  } else if (kind == "llama3") {
    scale_llama3(settings, positions, frequencies);
  } else if (kind == "yarn") {
    rope.scale = scale_yarn(settings, stated.theta, width, positions, frequencies);
  } else if (kind == "ntk" && (settings.find("mixed_b") == nullptr || settings.find("mixed_b")->is_null())) {
    // Fixed scaling as in Alibaba's gte models: a larger base, and all of it a little slower.
    const double factor = positive(settings, "factor", 1), pairs = static_cast<double>(frequencies.size());
    for (std::size_t i = 0; i < frequencies.size(); ++i)
      frequencies[i] /= std::pow(factor, (static_cast<double>(i) + 1) / pairs);
  } else if (kind != "default" && kind != "dynamic") {
    throw make_error(ErrorCode::unsupported, "config.json: rotary positions of the kind '", kind,
                     "' are not built here, only default, linear, dynamic, ntk, llama3 and yarn: ", kind);
  }
  const double part = settings.is_null() ? 1 : settings.get_double("partial_rotary_factor", 1);
  if (part != 1)
    throw make_error(ErrorCode::unsupported,
                     "config.json: heads that are turned in part are not built here: "
                     "partial_rotary_factor");
  for (const double frequency : frequencies) rope.frequencies.push_back(static_cast<float>(frequency));
  return rope;
}

RopeAngles rope_angles(graph::Builder& b, const RopeSettings& settings, Value positions) {
  const Dim tokens = b.shape(positions).dims[0];
  const auto pairs = static_cast<std::int64_t>(settings.frequencies.size());
  const graph::Dims dims = {tokens, pairs};
  const Value turns =
      b.broadcast_in_dim({b.convert({positions}, {.dtype = DType::f32})}, {.dims = dims, .mapping = {0}});
  const Value frequencies = b.broadcast_in_dim({b.constant(Tensor::from<float>({pairs}, settings.frequencies))},
                                               {.dims = dims, .mapping = {1}});
  const Value angles = b.mul({turns, frequencies});
  const auto scaled = [&](Value x) {
    return settings.scale == 1 ? x : b.mul({x, graph::scalar_like(b, settings.scale, x)});
  };
  return {scaled(b.cos({angles})), scaled(b.sin({angles}))};
}

Value turned(graph::Builder& b, Value x, const RopeAngles& angles) {
  return b.rope({x, angles.cosines, angles.sines}, {.has_positions = false});
}

}  // namespace alate::models
