#include <algorithm>
#include <utility>

#include "tokenizers/post_processors/post_processor.h"
#include "tokenizers/unicode/character_classes.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers {
namespace {

constexpr char32_t kByteLevelSpace = 0x120;  // what byte-level tokens have for a space

bool is_space(char32_t c) { return c == kByteLevelSpace || is_in(c, kWhitespace); }

std::uint32_t leading_spaces(std::string_view token) {
  std::uint32_t count = 0;
  for (std::size_t at = 0; at < token.size(); ++count) {
    const CodePoint c = decode_utf8(token, at);
    if (!is_space(c.value)) break;
    at += c.length;
  }
  return count;
}

std::size_t start_of_last(std::string_view text, std::size_t end) {
  do {
    --end;
  } while (end > 0 && !starts_code_point(text[end]));
  return end;
}

std::uint32_t trailing_spaces(std::string_view token) {
  std::uint32_t count = 0;
  for (std::size_t end = token.size(); end > 0; ++count) {
    const std::size_t begin = start_of_last(token, end);
    if (!is_space(decode_utf8(token, begin).value)) break;
    end = begin;
  }
  return count;
}

// Moves the begin of a token's range forward, or its end back, by a number of code points, in both units. The range may
// be outside the text: see add_misplaced in tokenizer.cpp.
class Range {
 public:
  Range(std::string_view text, Encoding::Offsets& offsets, Encoding::Offsets& bytes)
      : text_(text), offsets_(offsets), bytes_(bytes) {}

  void trim_begin(std::uint32_t count) {
    const std::uint32_t begin = std::min(offsets_.first + count, offsets_.second);
    if (begin == offsets_.second) {
      bytes_.first = bytes_.second;
    } else {
      for (std::uint32_t i = offsets_.first; i < begin; ++i) {
        do ++bytes_.first;
        while (bytes_.first < text_.size() && !starts_code_point(text_[bytes_.first]));
      }
    }
    offsets_.first = begin;
  }

  void trim_end(std::uint32_t count) {
    if (offsets_.second < count) return;
    const std::uint32_t end = std::max(offsets_.second - count, offsets_.first);
    if (end == offsets_.first) {
      bytes_.second = bytes_.first;
    } else {
      for (std::uint32_t i = offsets_.second; i > end && bytes_.second > 0; --i) {
        do --bytes_.second;
        while (bytes_.second > 0 && bytes_.second < text_.size() && !starts_code_point(text_[bytes_.second]));
      }
    }
    offsets_.second = end;
  }

 private:
  std::string_view text_;
  Encoding::Offsets& offsets_;
  Encoding::Offsets& bytes_;
};

// process_offsets of the reference.
void trim_tokens(Encoding& encoding, bool add_prefix_space, const ProcessContext& context) {
  for (std::size_t i = 0; i < encoding.offsets.size(); ++i) {
    const std::int8_t sequence = encoding.sequence_ids[i];
    if (sequence == Encoding::kNone) continue;  // special tokens have nothing to trim
    std::uint32_t leading = leading_spaces(encoding.tokens[i]);
    const std::uint32_t trailing = trailing_spaces(encoding.tokens[i]);
    Range range(context.texts[static_cast<std::size_t>(sequence)], encoding.offsets[i], encoding.byte_offsets[i]);
    if (leading > 0) {
      const bool is_first = i == 0 || encoding.offsets[i].first == 0;
      if (is_first && add_prefix_space && leading == 1) leading = 0;
      range.trim_begin(leading);
    }
    if (trailing > 0) range.trim_end(trailing);
  }
}

class ByteLevelProcessing final : public PostProcessor {
 public:
  ByteLevelProcessing(bool trims, bool add_prefix_space) : trims_(trims), add_prefix_space_(add_prefix_space) {}

  std::size_t added_tokens(bool) const override { return 0; }
  bool reads_tokens() const override { return trims_; }

  void apply(std::vector<Encoding>& encodings, const ProcessContext& context) const override {
    if (!trims_) return;
    for (Encoding& encoding : encodings) trim_offsets(encoding, add_prefix_space_, context);
  }

 private:
  bool trims_;
  bool add_prefix_space_;
};

}  // namespace

void trim_offsets(Encoding& encoding, bool add_prefix_space, const ProcessContext& context) {
  trim_tokens(encoding, add_prefix_space, context);
  for (Encoding& window : encoding.overflowing) trim_tokens(window, add_prefix_space, context);
}

PostProcessorPtr byte_level_processing(bool trim_offsets, bool add_prefix_space) {
  return std::make_unique<ByteLevelProcessing>(trim_offsets, add_prefix_space);
}

}  // namespace alate::tokenizers
