#include "formats/json_reader.h"

#include <array>
#include <bit>
#include <cstring>

#include "alate/error.h"
#include "formats/utf8.h"

namespace alate::formats {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

constexpr std::array<bool, 256> make_ends() {
  std::array<bool, 256> ends{};
  for (std::size_t c = 0; c < 0x20; ++c) ends[c] = true;
  ends['"'] = ends['\\'] = true;
  return ends;
}

// Characters that end a run of plain ones in a string.
constexpr std::array<bool, 256> kEndsPlain = make_ends();

constexpr std::uint64_t each_byte(std::uint64_t byte) { return byte * 0x0101010101010101u; }

// A bit in each byte that is zero, and perhaps in bytes above one that is.
constexpr std::uint64_t zero_bytes(std::uint64_t word) { return (word - each_byte(1)) & ~word & each_byte(0x80); }

void append_utf8(std::string& out, std::uint32_t c) {
  const auto put = [&](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | c >> 6);
    put(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    put(0xE0 | c >> 12);
    put(0x80 | (c >> 6 & 0x3F));
    put(0x80 | (c & 0x3F));
  } else {
    put(0xF0 | c >> 18);
    put(0x80 | (c >> 12 & 0x3F));
    put(0x80 | (c >> 6 & 0x3F));
    put(0x80 | (c & 0x3F));
  }
}

}  // namespace

JsonReader::JsonReader(std::string_view text, std::string_view what, const JsonLimits& limits, std::size_t offset)
    : text_(text), what_(what), offset_(offset), max_depth_(limits.max_depth) {
  if (text.size() > limits.max_bytes)
    throw make_error(ErrorCode::resource_exhausted, what, " has ", text.size(), " bytes of JSON; the limit is ",
                     limits.max_bytes);
  if (const std::size_t valid = valid_utf8_prefix(text); valid < text.size())
    throw make_error(ErrorCode::corrupt, what, ": JSON, byte ", offset + valid, ": this is no UTF-8");
}

void JsonReader::fail(std::string_view reason) const {
  throw make_error(ErrorCode::corrupt, what_, ": JSON, byte ", offset_ + at_, ": ",
                   at_ >= text_.size() ? "the text ends too early" : reason);
}

void JsonReader::enter() {
  if (++depth_ > max_depth_) fail("it is nested too deeply");
  is_first_ = true;
}

void JsonReader::begin_object() {
  expect('{');
  enter();
}

void JsonReader::begin_array() {
  expect('[');
  enter();
}

bool JsonReader::next_in_container(char end) {
  const char next = peek();
  if (next == end) {
    ++at_;
    --depth_;
    is_first_ = false;
    return false;
  }
  if (!is_first_) expect(',');
  is_first_ = false;
  return true;
}

bool JsonReader::next_member(std::string_view& key) {
  if (!next_in_container('}')) return false;
  key = read_string();
  expect(':');
  return true;
}

bool JsonReader::next_element() {
  if (!next_in_container(']')) return false;
  if (peek() == ']') fail("this is no JSON");
  return true;
}

// Moves to the end of the string or to its next escape; true at the end.
bool JsonReader::skip_plain_characters() {
  for (;;) {
    while (at_ + 8 <= text_.size()) {
      std::uint64_t word = 0;
      std::memcpy(&word, text_.data() + at_, 8);
      const std::uint64_t stops =
          zero_bytes(word ^ each_byte('"')) | zero_bytes(word ^ each_byte('\\')) | zero_bytes(word & each_byte(0xE0));
      if (stops == 0) {
        at_ += 8;
        continue;
      }
      // The lowest bit is exact, so it is the first stop where the first byte is the lowest.
      if constexpr (std::endian::native == std::endian::little)
        at_ += static_cast<std::size_t>(std::countr_zero(stops)) / 8;
      break;
    }
    while (at_ < text_.size() && !kEndsPlain[static_cast<unsigned char>(text_[at_])]) ++at_;
    if (at_ >= text_.size()) fail("");
    if (text_[at_] == '"') return true;
    if (text_[at_] == '\\') return false;
    fail("this is no JSON");
  }
}

std::string_view JsonReader::read_string() {
  expect('"');
  const std::size_t begin = at_;
  if (skip_plain_characters()) return text_.substr(begin, at_++ - begin);
  decoded_.assign(text_.substr(begin, at_ - begin));
  for (;;) {
    read_escape(&decoded_);
    const std::size_t plain = at_;
    const bool ends = skip_plain_characters();
    decoded_ += text_.substr(plain, at_ - plain);
    if (ends) break;
  }
  ++at_;
  return decoded_;
}

std::uint32_t JsonReader::read_code_unit() {
  std::uint32_t unit = 0;
  for (int i = 0; i < 4; ++i, ++at_) {
    if (at_ >= text_.size()) fail("");
    const char digit = text_[at_];
    const char lower = static_cast<char>(digit | 0x20);
    if (is_digit(digit)) {
      unit = unit * 16 + static_cast<std::uint32_t>(digit - '0');
    } else if (lower >= 'a' && lower <= 'f') {
      unit = unit * 16 + static_cast<std::uint32_t>(lower - 'a' + 10);
    } else {
      fail("a hexadecimal digit is expected");
    }
  }
  return unit;
}

// A lone surrogate becomes U+FFFD.
void JsonReader::read_escape(std::string* decoded) {
  ++at_;
  if (at_ >= text_.size()) fail("");
  const char escape = text_[at_];
  std::uint32_t c = 0;
  switch (escape) {
    case '"':
    case '\\':
    case '/': c = static_cast<unsigned char>(escape); break;
    case 'b': c = '\b'; break;
    case 'f': c = '\f'; break;
    case 'n': c = '\n'; break;
    case 'r': c = '\r'; break;
    case 't': c = '\t'; break;
    case 'u': break;
    default: fail("this is no JSON");
  }
  ++at_;
  if (escape == 'u') {
    c = read_code_unit();
    if (c >= 0xD800 && c < 0xDC00 && text_.substr(at_, 2) == "\\u") {
      const std::size_t second = at_;
      at_ += 2;
      const std::uint32_t low = read_code_unit();
      if (low >= 0xDC00 && low < 0xE000) {
        c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
      } else {
        at_ = second;
      }
    }
    if (c >= 0xD800 && c < 0xE000) c = 0xFFFD;
  }
  if (decoded != nullptr) append_utf8(*decoded, c);
}

std::string_view JsonReader::read_number() {
  peek();
  const std::size_t begin = at_;
  const auto digits = [&] {
    if (at_ >= text_.size() || !is_digit(text_[at_])) fail("this is no number");
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
  };
  if (text_[at_] == '-') ++at_;
  if (at_ < text_.size() && text_[at_] == '0') {
    ++at_;
  } else {
    digits();
  }
  if (at_ < text_.size() && text_[at_] == '.') {
    ++at_;
    digits();
  }
  if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
    ++at_;
    if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
    digits();
  }
  return text_.substr(begin, at_ - begin);
}

void JsonReader::skip_literal(std::string_view literal) {
  if (text_.substr(at_, literal.size()) != literal) fail("this is no JSON");
  at_ += literal.size();
}

std::string_view JsonReader::skip_value() {
  std::string kinds;  // of the containers around the position, within the value
  peek();
  const std::size_t begin = at_;
  std::string_view key;
  do {
    switch (peek()) {
      case '{':
        begin_object();
        kinds += '{';
        break;
      case '[':
        begin_array();
        kinds += '[';
        break;
      case '"':
        ++at_;
        while (!skip_plain_characters()) read_escape(nullptr);
        ++at_;
        break;
      case 't': skip_literal("true"); break;
      case 'f': skip_literal("false"); break;
      case 'n': skip_literal("null"); break;
      default: read_number();
    }
    while (!kinds.empty()) {
      if (kinds.back() == '{' ? next_member(key) : next_element()) break;
      kinds.pop_back();
    }
  } while (!kinds.empty());
  return text_.substr(begin, at_ - begin);
}

void JsonReader::finish() {
  skip_space();
  if (at_ < text_.size()) fail("there is more text after the value");
}

}  // namespace alate::formats
