#include "tokenizers/sources/tokenizer_json/read_added_tokens.h"

#include <utility>

namespace alate::tokenizers {

std::vector<NumberedToken> read_added_tokens(const Json::Array& list, std::string_view where) {
  std::vector<NumberedToken> tokens;
  for (const Json& entry : list) {
    AddedToken token;
    token.content = string_member(entry, "content", where);
    token.single_word = bool_member(entry, "single_word", where);
    token.lstrip = bool_member(entry, "lstrip", where);
    token.rstrip = bool_member(entry, "rstrip", where);
    token.normalized = bool_member(entry, "normalized", where);
    token.special = bool_member(entry, "special", where);
    tokens.push_back({count_member(entry, "id", where), std::move(token)});
  }
  return tokens;
}

}  // namespace alate::tokenizers
