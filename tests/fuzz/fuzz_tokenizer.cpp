// A tokenizer.json and a text, split at the first zero byte: loading either throws alate::Error or gives a tokenizer
// whose encodings are whole, whatever the text. The bytes 1, c and n stand for c repeated 2^n times, so that a small
// input has long tokens, and parts that make much of a text.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "alate/error.h"
#include "alate/tokenizer.h"
#include "tokenizers/unicode/utf8.h"

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

void check_lists(const alate::Encoding& encoding) {
  const std::size_t count = encoding.ids.size();
  check(encoding.type_ids.size() == count && encoding.special_mask.size() == count && encoding.tokens.size() == count);
  check(encoding.offsets.size() == count && encoding.byte_offsets.size() == count);
  check(encoding.word_ids.size() == count && encoding.sequence_ids.size() == count);
  check(encoding.attention_mask.size() == count);
  for (std::size_t i = 0; i < count; ++i) {
    check(encoding.ids[i] >= 0);
    check(encoding.byte_offsets[i].first <= encoding.byte_offsets[i].second);
    check(encoding.offsets[i].first <= encoding.offsets[i].second);
  }
  for (const alate::Encoding& window : encoding.overflowing) check_lists(window);
}

template <typename Encode>
void try_encode(Encode encode) {
  try {
    check_lists(encode());
  } catch (const alate::Error&) {  // refused: a limit, an option that cannot be met, a missing unknown token
  }
}

std::string expanded(std::string_view input) {
  constexpr std::size_t kMostDoublings = 17;
  constexpr std::size_t kMostBytes = std::size_t{1} << 20;
  std::string all;
  for (std::size_t at = 0; at < input.size(); ++at) {
    const bool repeats = input[at] == 1 && at + 2 < input.size();
    const std::size_t times =
        repeats ? std::size_t{1} << static_cast<unsigned char>(input[at + 2]) % (kMostDoublings + 1) : 1;
    if (all.size() + times > kMostBytes) break;
    all.append(times, repeats ? input[at + 1] : input[at]);
    if (repeats) at += 2;
  }
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string long_input = expanded(std::string_view(reinterpret_cast<const char*>(data), size));
  const std::string_view input = long_input;
  const std::size_t split = input.find('\0');
  const std::string_view text = split == std::string_view::npos ? std::string_view() : input.substr(split + 1);
  try {
    const alate::Tokenizer tokenizer = alate::Tokenizer::from_json(input.substr(0, split), "fuzz");
    const alate::EncodeOptions cut{.max_length = 8, .side = alate::Side::left, .stride = 2};
    alate::EncodeOptions padded = cut;
    padded.padding = alate::Padding{.multiple_of = 16, .side = alate::Side::left};
    try_encode([&] { return tokenizer.encode(text); });
    try_encode([&] { return tokenizer.encode(text, cut); });
    try_encode([&] { return tokenizer.encode_pair(text, text.substr(text.size() / 2), padded); });
    try {
      const auto plain = tokenizer.encode(text, {.with_offsets = false, .with_tokens = false});
      const auto whole = tokenizer.encode(text);
      check(plain.ids == whole.ids);
      // Now words come from the cache.
      const auto again = tokenizer.encode(text);
      check(again.ids == whole.ids && again.tokens == whole.tokens && again.offsets == whole.offsets);
      alate::DecodeStream stream(tokenizer, {.skip_special_tokens = true, .clean_up_spaces = true});
      std::string streamed;
      for (const std::int32_t id : plain.ids) {
        const std::string piece = stream.push(id);
        check(!alate::tokenizers::repair_utf8(piece).has_value());
        streamed += piece;
      }
      streamed += stream.finish();
      check(streamed == tokenizer.decode(plain.ids, {.skip_special_tokens = true, .clean_up_spaces = true}));
    } catch (const alate::Error&) {  // the same refusals as above
    }
    check(tokenizer.vocabulary_size() < (std::size_t{1} << 32));
  } catch (const alate::Error&) {  // a file that is refused
  }
  return 0;
}
