// The "model" of a tokenizer.json.
#pragma once

#include <string_view>
#include <vector>

#include "formats/json.h"
#include "tokenizers/models/model.h"

namespace alate::tokenizers {

/// Throws corrupt, or unsupported naming the type or the value.
ModelPtr read_model(const formats::Json& part, std::string_view where);

/// The types that read_model knows.
std::vector<std::string_view> model_types();

}  // namespace alate::tokenizers
