// The tokens of a template.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizers/chat_templates/values/value.h"

namespace alate::tokenizers::chat_templates {

enum class TokenKind : std::uint8_t {
  data,
  statement_begin,
  statement_end,
  output_begin,
  output_end,
  name,
  text,
  integer,
  real,
  sign,
  end
};

struct Token {
  TokenKind kind;
  std::uint32_t line;
  std::string text;  // data, name, text; a sign's characters
  Value number;
};

/// Splits a template into tokens as Jinja does with trim_blocks and lstrip_blocks, comments left out. The last token is
/// `end`. Throws corrupt with the line.
std::vector<Token> tokenize_template(std::string_view text, std::string_view what);

[[noreturn]] void throw_syntax_error(std::string_view what, std::uint32_t line, std::string_view message);

}  // namespace alate::tokenizers::chat_templates
