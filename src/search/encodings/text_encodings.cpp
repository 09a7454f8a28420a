#include "search/encodings/text_encodings.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/ascii_case.h"
#include "base/os/character_sets.h"
#include "formats/foreign_encoding.h"
#include "search/html/html_tokens.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::search {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kMostStatementBytes = std::size_t{1} << 14;
constexpr char32_t kReplacementCharacter = 0xFFFD;

struct SingleByteEncoding {
  std::string_view name;
  std::array<char16_t, 128> characters;
};
#include "search/encodings/single_byte_encodings.inc"

struct EncodingLabel {
  std::string_view label, name;
};
#include "search/encodings/encoding_labels.inc"

// What iconv calls those that the standard reads as supersets of their names.
constexpr auto kConverted =
    std::to_array<std::pair<std::string_view, std::string_view>>({{"big5", "BIG5-HKSCS"},
                                                                  {"euc-jp", "EUC-JP-MS"},
                                                                  {"euc-kr", "CP949"},
                                                                  {"gb18030", "GB18030"},
                                                                  {"gbk", "GB18030"},
                                                                  {"iso-2022-jp", "ISO-2022-JP"},
                                                                  {"shift_jis", "CP932"}});

std::string decode_single_bytes(std::string_view bytes, const SingleByteEncoding& encoding) {
  std::string text;
  text.reserve(bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    const char32_t character = byte < 0x80 ? byte : encoding.characters[byte - 0x80];
    tokenizers::append_utf8(text, byte >= 0x80 && character == 0 ? kReplacementCharacter : character);
  }
  return text;
}

// The units of UTF-16 and UTF-32; what is left of a last one is U+FFFD.
template <std::size_t kBytes>
class Units {
 public:
  Units(std::string_view bytes, bool is_big) : bytes_(bytes), is_big_(is_big) {}
  bool is_done() const { return at_ >= bytes_.size(); }
  char32_t peek() const {
    if (bytes_.size() - at_ < kBytes) return kReplacementCharacter;
    char32_t unit = 0;
    for (std::size_t i = 0; i < kBytes; ++i) {
      const auto byte = static_cast<unsigned char>(bytes_[at_ + (is_big_ ? i : kBytes - 1 - i)]);
      unit = unit << 8 | byte;
    }
    return unit;
  }
  char32_t next() {
    const char32_t unit = peek();
    at_ += kBytes;
    return unit;
  }

 private:
  std::string_view bytes_;
  bool is_big_;
  std::size_t at_ = 0;
};

bool is_surrogate(char32_t c) { return c >= 0xD800 && c < 0xE000; }

std::string decode_utf16(std::string_view bytes, bool is_big) {
  std::string text;
  text.reserve(bytes.size());
  for (Units<2> units(bytes, is_big); !units.is_done();) {
    char32_t unit = units.next();
    if (is_surrogate(unit)) {
      const char32_t second = units.is_done() ? 0 : units.peek();
      const bool is_pair = unit < 0xDC00 && second >= 0xDC00 && second < 0xE000;
      unit = is_pair ? 0x10000 + ((unit & 0x3FF) << 10 | (units.next() & 0x3FF)) : kReplacementCharacter;
    }
    tokenizers::append_utf8(text, unit);
  }
  return text;
}

std::string decode_utf32(std::string_view bytes, bool is_big) {
  std::string text;
  text.reserve(bytes.size() / 2);
  for (Units<4> units(bytes, is_big); !units.is_done();) {
    const char32_t unit = units.next();
    tokenizers::append_utf8(text, unit < 0x110000 && !is_surrogate(unit) ? unit : kReplacementCharacter);
  }
  return text;
}

// The label behind charset= in the content of a <meta http-equiv> (section 2.7.4 of the HTML standard).
std::string_view label_in_content(std::string_view content) {
  constexpr std::string_view kName = "charset";
  for (std::size_t at = 0; (at = content.find(kName, at)) != std::string_view::npos;) {
    at += kName.size();
    while (at < content.size() && is_html_space(content[at])) ++at;
    if (at >= content.size() || content[at] != '=') continue;
    ++at;
    while (at < content.size() && is_html_space(content[at])) ++at;
    const std::string_view rest = content.substr(at);
    if (rest.starts_with('"') || rest.starts_with('\'')) {
      const std::size_t end = rest.find(rest.front(), 1);
      return end == std::string_view::npos ? std::string_view() : rest.substr(1, end - 1);
    }
    return rest.substr(0, std::min(rest.find_first_of(" \t\n\r\f;"), rest.size()));
  }
  return {};
}

std::string_view label_of_declaration(std::string_view page) {
  if (!page.starts_with("<?xml")) return {};
  const std::string_view declaration = page.substr(0, page.find("?>"));
  const std::size_t name = declaration.find("encoding");
  if (name == std::string_view::npos) return {};
  const std::size_t begin = declaration.find_first_of("\"'", name);
  if (begin == std::string_view::npos) return {};
  const std::size_t end = declaration.find(declaration[begin], begin + 1);
  return end == std::string_view::npos ? std::string_view() : declaration.substr(begin + 1, end - begin - 1);
}

std::string_view encoding_of_statement(std::string_view label) {
  const std::string_view name = encoding_of_label(label);
  if (name.starts_with("utf-16")) return "utf-8";
  return name == "x-user-defined" ? "windows-1252" : name;
}

}  // namespace

std::string_view encoding_of_label(std::string_view label) {
  while (!label.empty() && is_html_space(label.front())) label.remove_prefix(1);
  while (!label.empty() && is_html_space(label.back())) label.remove_suffix(1);
  const std::string lower = base::ascii_lower(label);
  const auto found = std::ranges::lower_bound(kEncodingLabels, std::string_view(lower), {}, &EncodingLabel::label);
  return found != kEncodingLabels.end() && found->label == lower ? found->name : std::string_view();
}

EncodingSign encoding_sign(std::string_view bytes) {
  if (bytes.starts_with("\xEF\xBB\xBF"sv)) return {"utf-8", 3};
  if (bytes.starts_with("\xFF\xFE\0\0"sv)) return {"utf-32le", 4};
  if (bytes.starts_with("\0\0\xFE\xFF"sv)) return {"utf-32be", 4};
  if (bytes.starts_with("\xFF\xFE"sv)) return {"utf-16le", 2};
  if (bytes.starts_with("\xFE\xFF"sv)) return {"utf-16be", 2};
  const std::string_view foreign = formats::foreign_encoding(bytes);
  if (foreign == "UTF-16LE") return {"utf-16le"};
  if (foreign == "UTF-16BE") return {"utf-16be"};
  if (foreign == "UTF-32LE") return {"utf-32le"};
  if (foreign == "UTF-32BE") return {"utf-32be"};
  return {};
}

std::string_view stated_encoding(std::string_view page) {
  page = page.substr(0, kMostStatementBytes);
  HtmlTokens tokens(page);
  while (const HtmlToken* token = tokens.next()) {
    if (token->kind != HtmlToken::Kind::start_tag) continue;
    if (token->name == "script" || token->name == "style" || token->name == "title" || token->name == "noscript")
      tokens.read_raw(token->name == "script" ? RawContent::script : RawContent::text, token->name);
    if (token->name == "body") break;
    if (token->name != "meta") continue;
    std::string label = token->attribute("charset").value_or("");
    const std::string equivalent = base::ascii_lower(token->attribute("http-equiv").value_or(""));
    if (label.empty() && equivalent == "content-type")
      label = label_in_content(base::ascii_lower(token->attribute("content").value_or("")));
    const std::string_view name = encoding_of_statement(label);
    if (!name.empty()) return name;
  }
  return encoding_of_statement(label_of_declaration(page));
}

std::optional<std::string> decode_bytes(std::string_view bytes, std::string_view encoding) {
  if (encoding == "utf-16le" || encoding == "utf-16be") return decode_utf16(bytes, encoding == "utf-16be");
  if (encoding == "utf-32le" || encoding == "utf-32be") return decode_utf32(bytes, encoding == "utf-32be");
  if (encoding == "iso-8859-8-i") encoding = "iso-8859-8";
  const auto table = std::ranges::find(kSingleByteEncodings, encoding, &SingleByteEncoding::name);
  if (table != kSingleByteEncodings.end()) return decode_single_bytes(bytes, *table);
  const auto converted = std::ranges::find(kConverted, encoding, &decltype(kConverted)::value_type::first);
  if (converted == kConverted.end()) return std::nullopt;
  return base::convert_to_utf8(bytes, std::string(converted->second));
}

}  // namespace alate::search
