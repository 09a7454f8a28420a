// What ModernBERT and its decoder have in common.
#pragma once

#include <string>

#include "formats/json.h"
#include "models/blocks/rotary_encoder.h"
#include "models/encoder.h"

namespace alate::models {

/// Sizes, rotary positions and windows of half of local_attention on each side; the names are those of ModernBERT.
/// Throws as read_rotary_config, and corrupt for windows that no such model has.
RotaryConfig read_modernbert_config(const formats::Json& config);

/// The layer before every head, under the names NAME.dense and NAME.norm.
graph::Value modernbert_transform(RotaryEncoder& encoder, const std::string& name, graph::Value x);

}  // namespace alate::models
