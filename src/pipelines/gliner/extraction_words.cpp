#include "pipelines/gliner/extraction_words.h"

#include <algorithm>
#include <cstddef>

#include "tokenizers/chat_templates/text/python_characters.h"
#include "tokenizers/unicode/general_category.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::pipelines {
namespace {

namespace python = tokenizers::chat_templates;

// As re.IGNORECASE compares a character with those of ASCII.
char32_t folded(char32_t c) {
  if (c >= 'A' && c <= 'Z') return c + ('a' - 'A');
  if (c == 0x130 || c == 0x131) return 'i';  // İ, ı
  if (c == 0x17F) return 's';                // ſ
  return c == 0x212A ? 'k' : c;              // the sign of kelvin
}

bool is_latin_letter(char32_t c) {
  const char32_t small = folded(c);
  return small >= 'a' && small <= 'z';
}
bool is_digit_character(char32_t c) { return c >= '0' && c <= '9'; }
bool is_of_name(char32_t c) { return is_latin_letter(c) || is_digit_character(c) || c == '_'; }
bool is_of_domain(char32_t c) { return is_latin_letter(c) || is_digit_character(c) || c == '.' || c == '-'; }
bool is_of_mailbox(char32_t c) { return is_of_name(c) || c == '.' || c == '%' || c == '+' || c == '-'; }

// \w, combining marks and the joiners of zero width.
bool is_part_of_word(char32_t c) {
  if (c < 0x80) return is_of_name(c);
  if (c == 0x200C || c == 0x200D) return true;
  return python::is_alphabetic(c) || python::is_numeric(c) || python::is_decimal(c) || python::is_digit(c) ||
         (tokenizers::category_bit(tokenizers::general_category(c)) & tokenizers::kCategoriesM) != 0;
}

class WordMatcher {
 public:
  explicit WordMatcher(std::string_view text) {
    for (std::size_t byte = 0; byte < text.size();) {
      const auto decoded = tokenizers::decode_utf8(text, byte);
      characters_.push_back(decoded.value);
      bytes_.push_back(byte);
      byte += decoded.length;
    }
    bytes_.push_back(text.size());
  }

  std::vector<TextWord> words() {
    std::vector<TextWord> words;
    for (std::size_t at = 0; at < characters_.size();) {
      if (python::is_space(characters_[at])) {
        ++at;
        continue;
      }
      const std::size_t end = end_of_match(at);
      words.push_back({at, end, bytes_[at], bytes_[end]});
      at = end;
    }
    return words;
  }

 private:
  static constexpr std::size_t kNone = 0;  // no match ends there

  // The first alternative of the expression that matches at `at`.
  std::size_t end_of_match(std::size_t at) {
    if (const std::size_t end = end_of_page(at); end != kNone) return end;
    if (const std::size_t end = end_of_mail(at); end != kNone) return end;
    if (characters_[at] == '@') return end_of_run(at + 1, is_of_name);
    std::size_t end = end_of_run(at, is_part_of_word);
    if (end == at) return at + 1;
    while (end < characters_.size() && characters_[end] == '-') {
      const std::size_t more = end_of_run(end + 1, is_part_of_word);
      if (more == end + 1) break;
      end = more;
    }
    return end;
  }

  template <typename Belongs>
  std::size_t end_of_run(std::size_t at, const Belongs& belongs) const {
    while (at < characters_.size() && belongs(characters_[at])) ++at;
    return at;
  }

  bool continues_with(std::size_t at, std::string_view small) const {
    if (characters_.size() - at < small.size()) return false;
    for (std::size_t i = 0; i < small.size(); ++i) {
      if (folded(characters_[at + i]) != static_cast<char32_t>(small[i])) return false;
    }
    return true;
  }

  // https?://[^\s]+|www\.[^\s]+
  std::size_t end_of_page(std::size_t at) const {
    for (const std::string_view begin : {"https://", "http://", "www."}) {
      if (!continues_with(at, begin)) continue;
      const std::size_t rest = at + begin.size();
      const std::size_t end = end_of_run(rest, [](char32_t c) { return !python::is_space(c); });
      if (end > rest) return end;
    }
    return kNone;
  }

  // [a-z0-9._%+-]+@[a-z0-9.-]+\.[a-z]{2,}. Where the name before the @ ends, and whether a match goes on from there, is
  // the same for all places within it.
  std::size_t end_of_mail(std::size_t at) {
    if (!is_of_mailbox(characters_[at])) return kNone;
    if (at >= mailbox_end_) {
      mailbox_end_ = end_of_run(at, is_of_mailbox);
      const bool is_named = mailbox_end_ < characters_.size() && characters_[mailbox_end_] == '@';
      mail_end_ = is_named ? end_of_domain(mailbox_end_ + 1) : kNone;
    }
    return mail_end_;
  }
  // The last dot that letters follow ends the domain.
  std::size_t end_of_domain(std::size_t begin) const {
    const std::size_t end = end_of_run(begin, is_of_domain);
    for (std::size_t dot = end; dot > begin + 1;) {
      if (characters_[--dot] != '.') continue;
      const std::size_t letters = end_of_run(dot + 1, is_latin_letter);
      if (letters >= dot + 3) return letters;
    }
    return kNone;
  }

  std::vector<char32_t> characters_;
  std::vector<std::size_t> bytes_;  // where each begins, and the end
  std::size_t mailbox_end_ = 0, mail_end_ = kNone;
};

}  // namespace

std::vector<TextWord> split_extraction_words(std::string_view text) { return WordMatcher(text).words(); }

}  // namespace alate::pipelines
