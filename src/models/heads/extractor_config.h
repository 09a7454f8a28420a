// The settings of GLiNER2 models (Zaratiana et al. 2025, arXiv:2507.18546): config.json of model_type "extractor",
// whose names and defaults are those of the package gliner2.
#pragma once

#include <cstdint>
#include <string_view>

#include "formats/json.h"

namespace alate::models {

/// The member of a folder's config that has the model's own config.json; its other members are those of the backbone's
/// config, which is encoder_config/config.json.
inline constexpr std::string_view kExtractorMember = "extractor_config";
/// config.json's model_type.
inline constexpr std::string_view kExtractorType = "extractor";
/// The backbone's weights are under this name.
inline constexpr std::string_view kExtractorPrefix = "encoder.";

/// The layers that make the queries of a task's 1st, 2nd, … instance from its labels.
enum class CountingLayer : std::uint8_t { lstm, lstm_v2, experts };

struct ExtractorConfig {
  std::int64_t max_width = 8;  // words of the longest span
  CountingLayer counting = CountingLayer::lstm;

  static constexpr std::int64_t kCounts = 20;              // that are told apart: 0 to 19 instances
  static constexpr std::int64_t kInstances = kCounts - 1;  // the most that are read
};

/// Whether `config` is that of a GLiNER2 model: has the member.
bool is_extractor(const formats::Json& config);
/// The settings of such a config. Throws corrupt for impossible ones, unsupported for those that are not built.
ExtractorConfig read_extractor_config(const formats::Json& config);

}  // namespace alate::models
