// The "model" of a tokenizer.json.
#pragma once

#include <string_view>
#include <vector>

#include "formats/json.h"
#include "tokenizers/models/model.h"
#include "tokenizers/sources/tokenizer_json/file_members.h"

namespace alate::tokenizers {

/// `part` has the members of the model but the ones that stand in `large`. Throws corrupt, or unsupported
/// naming the type or the value.
ModelPtr read_model(const formats::Json& part, LargeMembers large, std::string_view where);

/// The types that read_model knows.
std::vector<std::string_view> model_types();

/// The type of a model, stated or, in older files, as its members show. Throws corrupt if neither.
std::string_view type_of_model(const formats::Json& part, const LargeMembers& large, std::string_view where);

}  // namespace alate::tokenizers
