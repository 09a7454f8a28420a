#include "tokenizers/post_processors/surround.h"

#include <algorithm>
#include <utility>

#include "tokenizers/encodings.h"

namespace alate::tokenizers {

void append_special(Encoding& encoding, const SpecialToken& token, std::int32_t type_id, Wanted wanted) {
  encoding.ids.push_back(token.id);
  encoding.type_ids.push_back(type_id);
  encoding.special_mask.push_back(1);
  encoding.attention_mask.push_back(1);
  if (wanted.tokens) encoding.tokens.push_back(token.text);
  if (wanted.offsets) {
    encoding.offsets.emplace_back(0, 0);
    encoding.byte_offsets.emplace_back(0, 0);
    encoding.word_ids.push_back(Encoding::kNone);
    encoding.sequence_ids.push_back(Encoding::kNone);
  }
}

void surround_all(std::vector<Encoding>& encodings, const SpecialToken& first, const SpecialToken* later,
                  const SpecialToken& last, std::int32_t later_type, Wanted wanted) {
  bool is_first = true;
  const auto surrounded = [&](Encoding encoding) {
    std::vector<Encoding> windows = std::exchange(encoding.overflowing, {});
    std::fill(encoding.special_mask.begin(), encoding.special_mask.end(), std::uint8_t{0});
    const std::int32_t type_id = is_first ? 0 : later_type;
    Encoding whole;
    const SpecialToken* before = is_first ? &first : later;
    if (before != nullptr) append_special(whole, *before, type_id, wanted);
    append_encoding(whole, std::move(encoding));
    append_special(whole, last, type_id, wanted);
    whole.overflowing = std::move(windows);
    return whole;
  };
  for (Encoding& encoding : encodings) {
    for (Encoding& window : encoding.overflowing) {
      window.overflowing.clear();
      window = surrounded(std::move(window));
    }
    encoding = surrounded(std::move(encoding));
    is_first = false;
  }
}

}  // namespace alate::tokenizers
