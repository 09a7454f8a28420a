// The "decoder" of a tokenizer.json.
#pragma once

#include <string_view>

#include "tokenizers/decoders/decoder.h"
#include "tokenizers/sources/tokenizer_json/json_fields.h"

namespace alate::tokenizers {

/// None for null. `where` names the member in errors. Throws corrupt, or unsupported naming the type.
DecoderPtr read_decoder(const Json& part, std::string_view where, int depth = 0);

}  // namespace alate::tokenizers
