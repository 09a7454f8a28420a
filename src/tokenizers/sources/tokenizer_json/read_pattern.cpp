#include "tokenizers/sources/tokenizer_json/read_pattern.h"

#include <string>

#include "alate/error.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers {

PatternText read_pattern(const Json& part, std::string_view where) {
  const Json& pattern = member(part, "pattern", where);
  const std::string name = std::string(where) + ".pattern";
  if (pattern.is_object() && pattern.as_object(where).size() == 1) {
    if (pattern.find("String") != nullptr) return {string_member(pattern, "String", name), false};
    if (pattern.find("Regex") != nullptr) return {string_member(pattern, "Regex", name), true};
  }
  throw make_error(ErrorCode::corrupt, name, " must be an object with one member, \"String\" or \"Regex\"");
}

char32_t character_member(const Json& part, std::string_view key, std::string_view where) {
  const std::string& text = string_member(part, key, where);
  if (!text.empty() && !repair_utf8(text).has_value()) {
    const CodePoint c = decode_utf8(text, 0);
    if (c.length == text.size()) return c.value;
  }
  throw make_error(ErrorCode::corrupt, where, ".", key, " must be one character");
}

}  // namespace alate::tokenizers
