// Normalizers, which rewrite a text before it is split.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizers/aligned_text.h"
#include "tokenizers/regex/pattern.h"
#include "tokenizers/unicode/normal_forms.h"

namespace alate::tokenizers {

/// Immutable; thread-safe.
class Normalizer {
 public:
  virtual ~Normalizer() = default;
  /// Throws resource_exhausted beyond the text's budget or a pattern's limits, and cancelled.
  virtual void apply(AlignedText& text) const = 0;
};

using NormalizerPtr = std::unique_ptr<const Normalizer>;

struct BertNormalizerOptions {
  bool clean_text = true;             // removes control characters, and makes every white space a plain one
  bool handle_chinese_chars = true;   // surrounds each ideograph with spaces
  std::optional<bool> strip_accents;  // as `lowercase` if absent
  bool lowercase = true;
};
NormalizerPtr bert_normalizer(const BertNormalizerOptions& options);

NormalizerPtr unicode_normalizer(NormalForm form);
NormalizerPtr lowercase();
/// Removes white space at the start, the end, or both.
NormalizerPtr strip(bool left, bool right);
/// Removes combining marks (general category M); letters are not decomposed first.
NormalizerPtr strip_accents();

/// Puts `content` in place of each match; it is text and never refers to groups. `where` names the part in errors.
NormalizerPtr replace(PatternText pattern, std::string content, std::string_view where);
/// Puts `prefix` before every text that is not empty.
NormalizerPtr prepend(std::string prefix);

/// SentencePiece's compiled normalization rules: the length in bytes of a double-array trie (32 bits, little-endian),
/// the trie, then the replacements, each closed by a zero byte. Each grapheme cluster below 6 bytes is looked up whole,
/// otherwise code point by code point. Throws corrupt if the sizes do not fit or the replacements are not UTF-8.
NormalizerPtr precompiled(std::string charsmap, std::string_view where);

/// Maps each byte to the code point that stands for it in byte-level vocabularies.
NormalizerPtr byte_level_normalizer();
/// The cleaning of SentencePiece's nmt rules: control characters go, unusual white space becomes plain.
NormalizerPtr nmt();

/// Applies the parts in order; none may be null.
NormalizerPtr normalizer_sequence(std::vector<NormalizerPtr> parts);

}  // namespace alate::tokenizers
