// The member "normalizer" of a tokenizer.json.
#pragma once

#include <string_view>

#include "tokenizers/normalizers/normalizer.h"
#include "tokenizers/sources/tokenizer_json/json_fields.h"

namespace alate::tokenizers {

/// The normalizer that the member states; none for null. `where` names the member in errors.
/// Throws corrupt, or unsupported naming the type.
NormalizerPtr read_normalizer(const Json& part, std::string_view where, int depth = 0);

}  // namespace alate::tokenizers
