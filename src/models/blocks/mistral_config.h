// The settings of Mistral's models. Names and defaults are those of transformers.
#pragma once

#include "formats/json.h"
#include "models/blocks/rotary_encoder.h"

namespace alate::models {

/// Mistral (Jiang et al. 2023, arXiv:2310.06825): all layers see a window, if there is one.
RotaryConfig read_mistral_config(const formats::Json& config);
/// Ministral (2024): `layer_types` says which layers see it.
RotaryConfig read_ministral_config(const formats::Json& config);
/// Ministral 3 (2025): queries grow with their position, rotary positions are scaled.
RotaryConfig read_ministral3_config(const formats::Json& config);

}  // namespace alate::models
