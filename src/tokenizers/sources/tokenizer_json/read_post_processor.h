// The "post_processor" of a tokenizer.json.
#pragma once

#include <string_view>

#include "tokenizers/post_processors/post_processor.h"
#include "tokenizers/sources/tokenizer_json/json_fields.h"

namespace alate::tokenizers {

/// None for null. `where` names the member in errors. Throws corrupt, or unsupported naming the type.
PostProcessorPtr read_post_processor(const Json& part, std::string_view where, int depth = 0);

}  // namespace alate::tokenizers
