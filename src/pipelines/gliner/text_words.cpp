#include "pipelines/gliner/text_words.h"

#include "tokenizers/chat_templates/text/python_characters.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::pipelines {
namespace {

namespace python = tokenizers::chat_templates;

// \w: str.isalnum, or an underscore.
bool is_word_character(char32_t c) {
  if (c < 0x80) return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  return python::is_alphabetic(c) || python::is_numeric(c) || python::is_decimal(c) || python::is_digit(c);
}

// A place between characters.
struct Place {
  std::size_t code_point = 0, byte = 0;
};

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool is_at_end(const Place& at) const { return at.byte == text_.size(); }
  char32_t character(const Place& at) const { return tokenizers::decode_utf8(text_, at.byte).value; }
  Place after(const Place& at) const {
    return {at.code_point + 1, at.byte + tokenizers::decode_utf8(text_, at.byte).length};
  }
  bool is_word_at(const Place& at) const { return !is_at_end(at) && is_word_character(character(at)); }
  Place after_word_characters(Place at) const {
    while (is_word_at(at)) at = after(at);
    return at;
  }
  // Where the match ends that begins here, at no space.
  Place end_of_word(const Place& begin) const {
    Place end = after_word_characters(begin);
    if (end.byte == begin.byte) return after(begin);
    while (!is_at_end(end) && character(end) == '-' && is_word_at(after(end))) end = after_word_characters(after(end));
    return end;
  }

 private:
  std::string_view text_;
};

}  // namespace

std::vector<TextWord> split_words(std::string_view text) {
  const Reader reader(text);
  std::vector<TextWord> words;
  for (Place at; !reader.is_at_end(at);) {
    if (python::is_space(reader.character(at))) {
      at = reader.after(at);
      continue;
    }
    const Place end = reader.end_of_word(at);
    words.push_back({at.code_point, end.code_point, at.byte, end.byte});
    at = end;
  }
  return words;
}

}  // namespace alate::pipelines
