#include "tokenizers/padding.h"

#include <algorithm>

#include "alate/error.h"

namespace alate::tokenizers {
namespace {

std::size_t padded_length(std::span<const Encoding> encodings, const Padding& padding) {
  std::size_t length = padding.length.value_or(0);
  if (!padding.length.has_value()) {
    for (const Encoding& encoding : encodings) length = std::max(length, encoding.ids.size());
  }
  const std::size_t rest = padding.multiple_of > 0 ? length % padding.multiple_of : 0;
  if (rest > 0) length += std::min(padding.multiple_of - rest, kMaxPaddedTokens);
  return length;
}

void pad(Encoding& encoding, std::size_t length, const Padding& padding, bool wants_tokens, bool wants_offsets) {
  for (Encoding& window : encoding.overflowing) pad(window, length, padding, wants_tokens, wants_offsets);
  if (encoding.ids.size() >= length) return;
  const std::size_t count = length - encoding.ids.size();
  const auto fill = [&](auto& list, const auto& value) {
    list.insert(padding.side == Side::left ? list.begin() : list.end(), count, value);
  };
  fill(encoding.ids, padding.id);
  fill(encoding.type_ids, padding.type_id);
  fill(encoding.special_mask, std::uint8_t{1});
  fill(encoding.attention_mask, std::uint8_t{0});
  if (wants_tokens) fill(encoding.tokens, padding.token);
  if (!wants_offsets) return;
  fill(encoding.offsets, Encoding::Offsets{0, 0});
  fill(encoding.byte_offsets, Encoding::Offsets{0, 0});
  fill(encoding.word_ids, std::int32_t{Encoding::kNone});
  fill(encoding.sequence_ids, Encoding::kNone);
}

}  // namespace

void pad_encodings(std::span<Encoding> encodings, const Padding& padding, bool wants_tokens, bool wants_offsets) {
  const std::size_t length = padded_length(encodings, padding);
  std::size_t rows = 0;
  for (const Encoding& encoding : encodings) rows += 1 + encoding.overflowing.size();
  if (rows > 0 && length > kMaxPaddedTokens / rows)
    throw make_error(ErrorCode::resource_exhausted, "padding ", rows, " rows to ", length,
                     " tokens would take more than ", kMaxPaddedTokens,
                     " tokens; give a shorter length or a smaller batch");
  for (Encoding& encoding : encodings) pad(encoding, length, padding, wants_tokens, wants_offsets);
}

}  // namespace alate::tokenizers

namespace alate {

void pad(std::span<Encoding> encodings, const Padding& padding) {
  const auto have = [&](const auto& list) {
    return std::none_of(encodings.begin(), encodings.end(),
                        [&](const Encoding& encoding) { return !encoding.ids.empty() && (encoding.*list).empty(); });
  };
  tokenizers::pad_encodings(encodings, padding, have(&Encoding::tokens), have(&Encoding::offsets));
}

}  // namespace alate
