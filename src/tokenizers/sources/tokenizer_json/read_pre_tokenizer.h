// The member "pre_tokenizer" of a tokenizer.json.
#pragma once

#include <string_view>

#include "tokenizers/pre_tokenizers/pre_tokenizer.h"
#include "tokenizers/sources/tokenizer_json/json_fields.h"

namespace alate::tokenizers {

/// The pre-tokenizer that the member states; none for null. `where` names the member in errors.
/// Throws corrupt, or unsupported naming the type.
PreTokenizerPtr read_pre_tokenizer(const Json& part, std::string_view where, int depth = 0);

/// The options of a Metaspace, which is a pre-tokenizer and a decoder. Throws corrupt.
MetaspaceOptions read_metaspace_options(const Json& part, std::string_view where);

}  // namespace alate::tokenizers
