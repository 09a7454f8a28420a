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
  bool is_of_layer_type = false;
};

Stated find_settings(const Json& config, const RopeSource& source) {
  const double theta = positive(config, source.theta_key, source.theta);
  // As in transformers, the older key counts where a file has both.
  const Json* older = object_member(config, "rope_scaling");
  const bool has_older = source.is_scaled && older != nullptr && !older->as_object("rope_scaling").empty();
  if (const Json* current = object_member(config, "rope_parameters"); current != nullptr && !has_older) {
    if (!source.layer_type.empty()) {
      const Json* of_type = object_member(*current, source.layer_type);
      if (of_type != nullptr) return {of_type, positive(*of_type, "rope_theta", theta), true};
    }
    if (source.layer_type.empty() || current->find("rope_theta") != nullptr)
      return {current, positive(*current, "rope_theta", theta)};
  }
  return {source.is_scaled ? older : nullptr, has_older ? positive(*older, "rope_theta", theta) : theta};
}

// The positions that the model was trained on before they were scaled. A number beside the settings goes before theirs.
double original_positions(const Json& config, const RopeSource& source, const Stated& stated, std::int64_t positions) {
  constexpr std::string_view kKey = "original_max_position_embeddings";
  const Json* beside = config.find_value(kKey);
  if (!stated.is_of_layer_type && beside != nullptr) return positive(config, kKey, 1);
  if (source.phi3_positions) return static_cast<double>(*source.phi3_positions);
  return positive(*stated.settings, kKey, static_cast<double>(positions));
}

// A list of settings with a number for each frequency.
std::vector<double> factors_in(const Json& settings, std::string_view key, std::size_t count) {
  const Json* stated = settings.find(key);
  if (stated == nullptr || !stated->is_array() || stated->as_array(key).size() != count)
    throw make_error(ErrorCode::corrupt, "config.json: ", key, " of the rotary positions must be ", count, " numbers");
  std::vector<double> factors;
  for (const Json& each : stated->as_array(key)) {
    factors.push_back(each.as_double(key));
    if (!std::isfinite(factors.back()) || factors.back() <= 0)
      throw make_error(ErrorCode::corrupt, "config.json: ", key, " of the rotary positions must be numbers above 0");
  }
  return factors;
}

std::vector<double> divided(std::vector<double> frequencies, const std::vector<double>& factors) {
  for (std::size_t i = 0; i < frequencies.size(); ++i) frequencies[i] /= factors[i];
  return frequencies;
}

std::vector<float> rounded(const std::vector<double>& frequencies) { return {frequencies.begin(), frequencies.end()}; }

// Frequencies below a wavelength stay, those above another are divided, those between are mixed.
void scale_llama3(const Json& settings, double original, std::vector<double>& frequencies) {
  const double factor = positive(settings, "factor", 8), low = positive(settings, "low_freq_factor", 1),
               high = positive(settings, "high_freq_factor", 4);
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
double scale_yarn(const Json& settings, double theta, std::int64_t width, std::int64_t positions, double original,
                  std::vector<double>& frequencies) {
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

// Ding et al. 2024, arXiv:2402.13753: longer texts have factors of their own.
RopeSettings longrope(const Json& settings, std::int64_t positions, double original,
                      const std::vector<double>& frequencies) {
  const double factor = positive(settings, "factor", static_cast<double>(positions) / original);
  const double usual = factor <= 1 ? 1 : std::sqrt(1 + std::log(factor) / std::log(original));
  if (!std::isfinite(usual))
    throw make_error(ErrorCode::corrupt, "config.json: original_max_position_embeddings must be above 1");
  RopeSettings rope{
      .frequencies = rounded(divided(frequencies, factors_in(settings, "short_factor", frequencies.size()))),
      .long_frequencies = rounded(divided(frequencies, factors_in(settings, "long_factor", frequencies.size()))),
      .short_text = static_cast<std::int64_t>(std::min(original, static_cast<double>(positions))),
      .scale = positive(settings, "attention_factor", usual)};
  if (rope.short_text >= positions || rope.long_frequencies == rope.frequencies) rope.long_frequencies.clear();
  return rope;
}

// How many of a head's values are turned.
std::int64_t turned_width(const Json& config, const RopeSource& source, const Json& settings, std::int64_t width) {
  constexpr std::string_view kKey = "partial_rotary_factor";
  const double part = settings.get_double(kKey, config.get_double(kKey, 1));
  if (part == 1) return width;
  if (!source.is_partial)
    throw make_error(ErrorCode::unsupported, "config.json: heads that are turned in part are not built here: ", kKey);
  const auto turned = static_cast<std::int64_t>(static_cast<double>(width) * std::clamp(part, 0.0, 2.0));
  if (part <= 0 || turned < 1 || turned > width)
    throw make_error(ErrorCode::corrupt, "config.json: ", kKey, " is ", part, ", which leaves no part of a head");
  return turned;
}

std::string kind_of(const Json& settings, const RopeSource& source) {
  if (settings.is_null()) return "default";
  std::string kind = settings.get_string("rope_type", settings.get_string("type", "default"));
  return source.phi3_positions && (kind == "su" || kind == "yarn") ? "longrope" : kind;
}

}  // namespace

RopeSettings read_rope(const Json& config, const RopeSource& source, std::int64_t width, std::int64_t positions) {
  const Stated stated = find_settings(config, source);
  const Json none;
  const Json& settings = stated.settings == nullptr ? none : *stated.settings;
  const std::int64_t part = turned_width(config, source, settings, width);
  if (width < 2 || (part + 1) / 2 * 2 > width)
    throw make_error(ErrorCode::corrupt, "config.json: heads of ", width, " values cannot have rotary positions");
  std::vector<double> frequencies;
  for (std::int64_t i = 0; i < part; i += 2)
    frequencies.push_back(1 / std::pow(stated.theta, static_cast<double>(i) / static_cast<double>(part)));
  const auto original = [&] { return original_positions(config, source, stated, positions); };
  RopeSettings rope;
  const std::string kind = kind_of(settings, source);
  if (kind == "longrope") return longrope(settings, positions, original(), frequencies);
  if (kind == "linear") {
    const double factor = positive(settings, "factor", 1);
    for (double& frequency : frequencies) frequency /= factor;
  } else if (kind == "factors") {  // that GGUF states instead of the settings that they were computed from
    const std::vector<double> factors = factors_in(settings, "factors", frequencies.size());
    frequencies = divided(std::move(frequencies), factors);
  } else if (kind == "llama3") {
    scale_llama3(settings, original(), frequencies);
  } else if (kind == "yarn") {
    rope.scale = scale_yarn(settings, stated.theta, part, positions, original(), frequencies);
  } else if (kind == "ntk" && (settings.find("mixed_b") == nullptr || settings.find("mixed_b")->is_null())) {
    // Fixed scaling as in Alibaba's gte models: a larger base, and all of it a little slower.
    const double factor = positive(settings, "factor", 1), pairs = static_cast<double>(frequencies.size());
    for (std::size_t i = 0; i < frequencies.size(); ++i)
      frequencies[i] /= std::pow(factor, (static_cast<double>(i) + 1) / pairs);
  } else if (kind != "default" && kind != "dynamic") {
    throw make_error(ErrorCode::unsupported, "config.json: rotary positions of the kind '", kind,
                     "' are not built here, only default, linear, dynamic, ntk, llama3, longrope and yarn: ", kind);
  }
  rope.frequencies = rounded(frequencies);
  return rope;
}

RopeAngles rope_angles(graph::Builder& b, const RopeSettings& settings, Value positions, std::optional<Value> is_long) {
  const Dim tokens = b.shape(positions).dims[0];
  const auto pairs = static_cast<std::int64_t>(settings.frequencies.size());
  const graph::Dims dims = {tokens, pairs};
  const Value turns =
      b.broadcast_in_dim({b.convert({positions}, {.dtype = DType::f32})}, {.dims = dims, .mapping = {0}});
  const auto rows = [&](const std::vector<float>& of) {
    return b.broadcast_in_dim({b.constant(Tensor::from<float>({pairs}, of))}, {.dims = dims, .mapping = {1}});
  };
  Value frequencies = rows(settings.frequencies);
  if (!settings.long_frequencies.empty())
    frequencies = b.select({b.broadcast_in_dim({is_long.value()}, {.dims = dims, .mapping = {0}}),
                            rows(settings.long_frequencies), frequencies});
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
