#include "apps/alate/texts/encoding_writer.h"

#include <vector>

#include "apps/alate/field_text.h"
#include "formats/json.h"

namespace alate::app {
namespace {

template <typename Items, typename Append>
void append_list(std::string& out, std::string_view key, const Items& items, const Append& append) {
  out += '"';
  out += key;
  out += "\":[";
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += ',';
    append(items[i]);
  }
  out += ']';
}

std::string right_aligned(std::string text, std::size_t width) {
  if (text.size() < width) text.insert(0, width - text.size(), ' ');
  return text;
}

}  // namespace

void append_encoding_json(std::string& out, const Encoding& encoding, EncodingMembers members) {
  const auto number = [&](auto value) { out += std::to_string(value); };
  const auto number_or_null = [&](auto value) { out += value == Encoding::kNone ? "null" : std::to_string(value); };
  const auto range = [&](const Encoding::Offsets& offsets) {
    out += '[' + std::to_string(offsets.first) + ',' + std::to_string(offsets.second) + ']';
  };
  out += '{';
  append_list(out, "ids", encoding.ids, number);
  out += ',';
  append_list(out, "tokens", encoding.tokens,
              [&](const std::string& token) { formats::append_json_string(out, token); });
  out += ',';
  append_list(out, "type_ids", encoding.type_ids, number);
  out += ',';
  append_list(out, "special_mask", encoding.special_mask, number);
  out += ',';
  append_list(out, "offsets", encoding.offsets, range);
  out += ',';
  append_list(out, "byte_offsets", encoding.byte_offsets, range);
  if (members.words) {
    out += ',';
    append_list(out, "word_ids", encoding.word_ids, number_or_null);
    out += ',';
    append_list(out, "sequence_ids", encoding.sequence_ids, number_or_null);
  }
  if (members.mask) {
    out += ',';
    append_list(out, "attention_mask", encoding.attention_mask, number);
  }
  if (members.windows || !encoding.overflowing.empty()) {
    out += ',';
    members.windows = false;
    append_list(out, "overflowing", encoding.overflowing,
                [&](const Encoding& window) { append_encoding_json(out, window, members); });
  }
  out += '}';
}

void append_encoding_text(std::string& out, const Encoding& encoding) {
  constexpr std::size_t kIdWidth = 8;
  constexpr std::size_t kRangeWidth = 12;
  for (std::size_t i = 0; i < encoding.ids.size(); ++i) {
    const auto& [begin, end] = encoding.offsets[i];
    const bool is_added = encoding.special_mask[i] != 0;
    out += right_aligned(std::to_string(encoding.ids[i]), kIdWidth);
    out += right_aligned(is_added ? "-" : std::to_string(begin) + "-" + std::to_string(end), kRangeWidth);
    out += "  " + terminal_text(encoding.tokens[i]) + "\n";
  }
  for (const Encoding& window : encoding.overflowing) {
    out += "further window:\n";
    append_encoding_text(out, window);
  }
}

}  // namespace alate::app
