#include "tokenizers/sources/tokenizer_json/large_members.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

namespace alate::tokenizers {
namespace {

using formats::JsonReader;

// How many entries fit into what is left of the text; tables are made for them at once, up to a bound.
std::size_t expected_entries(const JsonReader& reader, std::size_t bytes_each) {
  constexpr std::size_t kMost = std::size_t{1} << 17;
  return std::min(reader.bytes_left() / bytes_each, kMost);
}

std::int32_t read_id(JsonReader& reader) {
  const std::string_view number = reader.read_number();
  std::int32_t id = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), id);
  if (end != number.data() + number.size()) reader.fail("an id must be a whole number");
  if (error != std::errc() || id < 0) reader.fail("an id must be from 0 to 2147483647");
  return id;
}

// A token that occurs twice has its last id.
Vocabulary read_vocabulary(JsonReader& reader) {
  Vocabulary vocabulary;
  vocabulary.reserve(expected_entries(reader, 24));
  std::string_view token;
  for (reader.begin_object(); reader.next_member(token);) vocabulary.add(token, read_id(reader));
  vocabulary.finish();
  return vocabulary;
}

constexpr std::string_view kMergeKinds = "a merge is two tokens: a list, or in all merges a text with one space";

// Entries are lists of two tokens or, in older files, texts with a space between the tokens; a comment with the version
// may stand among the latter.
MergeList read_merges(JsonReader& reader) {
  MergeList merges;
  merges.reserve(expected_entries(reader, 16), reader.bytes_left() / 2);
  std::optional<char> kind;
  std::string left;
  for (reader.begin_array(); reader.next_element();) {
    const char start = reader.peek();
    if (start != kind.value_or(start)) reader.fail(kMergeKinds);
    kind = start;
    if (start == '[') {
      reader.begin_array();
      if (!reader.next_element()) reader.fail(kMergeKinds);
      left = reader.read_string();
      if (!reader.next_element()) reader.fail(kMergeKinds);
      merges.add(left, reader.read_string());
      if (reader.next_element()) reader.fail(kMergeKinds);
      continue;
    }
    const std::string_view text = reader.read_string();
    if (text.starts_with("#version")) continue;
    const std::size_t space = text.find(' ');
    if (space == std::string_view::npos || text.find(' ', space + 1) != std::string_view::npos)
      reader.fail(kMergeKinds);
    merges.add(text.substr(0, space), text.substr(space + 1));
  }
  return merges;
}

// Powers of ten up to the largest double.
double power_of_ten(int exponent) {
  static const std::vector<double> powers = [] {
    std::vector<double> made;
    for (int i = 0; i <= 308; ++i) {
      const std::string text = "1e" + std::to_string(i);
      double value = 0;
      std::from_chars(text.data(), text.data() + text.size(), value);
      made.push_back(value);
    }
    return made;
  }();
  return powers[static_cast<std::size_t>(exponent)];
}

// A score as the reference reads it (serde_json without "float_roundtrip"): the digits as an integer of 64 bits, times
// or divided by a power of ten. The result may be one bit off, and that can decide between segmentations.
double reference_double(JsonReader& reader) {
  const std::string_view number = reader.read_number();
  std::uint64_t digits = 0;
  std::int64_t exponent = 0;
  bool in_fraction = false;
  bool is_full = false;  // later digits are dropped
  std::size_t at = number.starts_with('-') ? 1 : 0;
  for (; at < number.size() && number[at] != 'e' && number[at] != 'E'; ++at) {
    if (number[at] == '.') {
      in_fraction = true;
      continue;
    }
    const auto digit = static_cast<std::uint64_t>(number[at] - '0');
    constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
    is_full = is_full || digits > kMax / 10 || (digits == kMax / 10 && digit > kMax % 10);
    if (!is_full) digits = digits * 10 + digit;
    if (in_fraction && !is_full) --exponent;
    if (!in_fraction && is_full) ++exponent;
  }
  if (at < number.size()) {
    const std::string_view text = number.substr(number[at + 1] == '+' ? at + 2 : at + 1);
    std::int64_t stated = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), stated);
    constexpr std::int64_t kFar = 1'000'000'000;
    if (error != std::errc()) stated = text.starts_with('-') ? -kFar : kFar;
    exponent += std::clamp(stated, -kFar, kFar);
  }
  auto value = static_cast<double>(digits);
  for (; value != 0 && exponent < -308; exponent += 308) value /= 1e308;
  if (value != 0 && exponent > 308) reader.fail("the number is too large for a double");
  if (value != 0 && exponent >= 0) value *= power_of_ten(static_cast<int>(exponent));
  if (value != 0 && exponent < 0) value /= power_of_ten(static_cast<int>(-exponent));
  if (std::isinf(value)) reader.fail("the number is too large for a double");
  return number.starts_with('-') ? -value : value;
}

std::vector<UnigramPiece> read_pieces(JsonReader& reader) {
  constexpr std::string_view kPieceKind = "a piece is a list of a text and a score";
  std::vector<UnigramPiece> pieces;
  for (reader.begin_array(); reader.next_element();) {
    reader.begin_array();
    if (!reader.next_element()) reader.fail(kPieceKind);
    std::string text(reader.read_string());
    if (!reader.next_element()) reader.fail(kPieceKind);
    pieces.push_back({std::move(text), reference_double(reader)});
    if (reader.next_element()) reader.fail(kPieceKind);
  }
  return pieces;
}

}  // namespace

bool read_large_member(JsonReader& reader, std::string_view name, LargeMembers& members) {
  const bool is_vocab = name == "vocab";
  if (!is_vocab && name != "merges") return false;
  const bool is_known = is_vocab ? members.vocab.has_value() || members.pieces.has_value() : members.merges.has_value();
  if (is_known) reader.fail("a key of the model occurs twice");
  const char start = reader.peek();
  if (start == 'n') {
    reader.skip_value();
  } else if (is_vocab && start == '{') {
    members.vocab = read_vocabulary(reader);
  } else if (is_vocab && start == '[') {
    members.pieces = read_pieces(reader);
  } else if (!is_vocab && start == '[') {
    members.merges = read_merges(reader);
  } else {
    reader.fail(is_vocab ? "model.vocab must be an object or a list" : "model.merges must be a list");
  }
  return true;
}

}  // namespace alate::tokenizers
