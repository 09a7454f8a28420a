// Architectures that are known and not built: what each is, for messages and documentation.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "formats/json.h"

namespace alate::models {

struct RefusedArchitectures {
  std::string_view what;                          // "has an encoder and a decoder"
  std::span<const std::string_view> model_types;  // of config.json
};
std::span<const RefusedArchitectures> refused_architectures();

/// The sentence about a config.json whose architecture is not built: what it is or which one is near, where the list is
/// and what else runs it. Ends with ": " and the model_type.
std::string refusal_of(const formats::Json& config);

/// The code of its own that config.json names for the model (`auto_map`), which is never run: "modeling_x.XModel".
/// Empty where it names none.
std::string own_code(const formats::Json& config);

}  // namespace alate::models
