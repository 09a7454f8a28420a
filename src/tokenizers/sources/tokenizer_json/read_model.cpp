#include "tokenizers/sources/tokenizer_json/read_model.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "alate/error.h"
#include "formats/json_reader.h"
#include "tokenizers/models/bpe.h"
#include "tokenizers/models/unigram.h"
#include "tokenizers/models/word_level.h"
#include "tokenizers/models/word_piece.h"
#include "tokenizers/sources/tokenizer_json/json_fields.h"

namespace alate::tokenizers {
namespace {

using formats::JsonReader;

std::string path_of(std::string_view where, std::string_view key) {
  return std::string(where) + "." + std::string(key);
}

const Json* present(const Json& part, std::string_view key) {
  const Json* value = part.find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

bool optional_bool(const Json& part, std::string_view key, std::string_view where) {
  return present(part, key) != nullptr && bool_member(part, key, where);
}

std::optional<std::string> optional_string(const Json& part, std::string_view key, std::string_view where) {
  if (present(part, key) == nullptr) return std::nullopt;
  return string_member(part, key, where);
}

JsonReader reader_of(std::optional<std::string_view> text, std::string_view path) {
  if (!text.has_value()) throw make_error(ErrorCode::corrupt, path, " is absent");
  return {*text, path};
}

std::int32_t read_id(JsonReader& reader) {
  const std::string_view number = reader.read_number();
  if (number.find_first_of(".eE") != std::string_view::npos) reader.fail("an id must be a whole number");
  std::int32_t id = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), id);
  if (error != std::errc() || id < 0) reader.fail("an id must be from 0 to 2147483647");
  return id;
}

// A token that occurs twice has its last id.
Vocabulary read_vocabulary(const LargeMembers& large, std::string_view where) {
  const std::string path = path_of(where, "vocab");
  JsonReader reader = reader_of(large.vocab, path);
  Vocabulary vocabulary;
  constexpr std::size_t kExpected = std::size_t{1} << 18;  // beyond it, the table grows as tokens come
  vocabulary.reserve(std::min(large.vocab->size() / 20, kExpected));
  std::string_view token;
  for (reader.begin_object(); reader.next_member(token);) {
    vocabulary.add(token, read_id(reader));
  }
  vocabulary.finish();
  return vocabulary;
}

constexpr std::string_view kMergeKinds = "a merge is two tokens: a list, or in all merges a text with one space";

// Entries are lists of two tokens or, in older files, texts with a space between the tokens; a comment with the version
// may stand among the latter.
MergeList read_merges(const LargeMembers& large, std::string_view where) {
  const std::string path = path_of(where, "merges");
  JsonReader reader = reader_of(large.merges, path);
  MergeList merges;
  merges.reserve(large.merges->size() / 16, large.merges->size() / 2);
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

ModelPtr read_bpe(const Json& part, const LargeMembers& large, std::string_view where) {
  if (const Json* dropout = present(part, "dropout")) {
    if (!dropout->is_number()) throw make_error(ErrorCode::corrupt, where, ".dropout must be a number or null");
    if (dropout->as_double(where) != 0)
      throw make_error(ErrorCode::unsupported, where, ": a dropout other than 0 is not supported; set it to null");
  }
  BpeOptions options;
  options.unk_token = optional_string(part, "unk_token", where);
  options.continuing_subword_prefix = optional_string(part, "continuing_subword_prefix", where).value_or("");
  options.end_of_word_suffix = optional_string(part, "end_of_word_suffix", where).value_or("");
  options.fuse_unk = optional_bool(part, "fuse_unk", where);
  options.byte_fallback = optional_bool(part, "byte_fallback", where);
  options.ignore_merges = optional_bool(part, "ignore_merges", where);
  return bpe(read_vocabulary(large, where), read_merges(large, where), options, where);
}

ModelPtr read_word_piece(const Json& part, const LargeMembers& large, std::string_view where) {
  WordPieceRules rules;
  rules.unknown_token = string_member(part, "unk_token", where);
  rules.continuing_prefix = string_member(part, "continuing_subword_prefix", where);
  rules.max_input_chars_per_word = static_cast<std::size_t>(count_member(part, "max_input_chars_per_word", where));
  return word_piece(read_vocabulary(large, where), std::move(rules), where);
}

ModelPtr read_word_level(const Json& part, const LargeMembers& large, std::string_view where) {
  return word_level(read_vocabulary(large, where), string_member(part, "unk_token", where), where);
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

ModelPtr read_unigram(const Json& part, const LargeMembers& large, std::string_view where) {
  const std::string path = path_of(where, "vocab");
  JsonReader reader = reader_of(large.vocab, path);
  std::vector<UnigramPiece> pieces;
  for (reader.begin_array(); reader.next_element();) {
    reader.begin_array();
    if (!reader.next_element()) reader.fail("a piece is a list of a text and a score");
    std::string text(reader.read_string());
    if (!reader.next_element()) reader.fail("a piece is a list of a text and a score");
    pieces.push_back({std::move(text), reference_double(reader)});
    if (reader.next_element()) reader.fail("a piece is a list of a text and a score");
  }
  std::optional<std::size_t> unk_id;
  if (present(part, "unk_id") != nullptr) unk_id = static_cast<std::size_t>(count_member(part, "unk_id", where));
  const bool byte_fallback = part.find("byte_fallback") != nullptr && bool_member(part, "byte_fallback", where);
  return unigram(std::move(pieces), unk_id, byte_fallback, where);
}

constexpr struct {
  std::string_view type;
  ModelPtr (*read)(const Json& part, const LargeMembers& large, std::string_view where);
} kModels[] = {
    {"BPE", read_bpe},
    {"WordPiece", read_word_piece},
    {"WordLevel", read_word_level},
    {"Unigram", read_unigram},
};

// Files older than the member "type" are recognized by their other members, in the order of the reference.
std::string_view type_of(const Json& part, const LargeMembers& large, std::string_view where) {
  if (!part.is_object() || part.find("type") != nullptr) return part_type(part, where);
  const bool is_map = large.vocab.has_value() && large.vocab->starts_with('{');
  if (is_map && large.merges.has_value()) return "BPE";
  if (is_map && part.find("max_input_chars_per_word") != nullptr) return "WordPiece";
  if (is_map && part.find("unk_token") != nullptr) return "WordLevel";
  if (large.vocab.has_value() && large.vocab->starts_with('[')) return "Unigram";
  return part_type(part, where);
}

}  // namespace

std::vector<std::string_view> model_types() {
  std::vector<std::string_view> types;
  for (const auto& known : kModels) types.push_back(known.type);
  return types;
}

ModelPtr read_model(const Json& part, const LargeMembers& large, std::string_view where) {
  const std::string_view type = type_of(part, large, where);
  for (const auto& known : kModels) {
    if (known.type == type) return known.read(part, large, where);
  }
  throw_unknown_part("model", type, where);
}

}  // namespace alate::tokenizers
