// Pre-tokenizers, which cut a normalized text into the pieces that a model tokenizes one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "tokenizers/pieces.h"
#include "tokenizers/pre_tokenizers/delimiters.h"
#include "tokenizers/regex/pattern.h"

namespace alate::tokenizers {

/// Immutable; thread-safe.
class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  /// Splits every piece that is not an added token; may rewrite their text. Throws resource_exhausted beyond the
  /// text's budget or a pattern's limits, and cancelled.
  virtual void apply(PieceList& list) const = 0;
};

using PreTokenizerPtr = std::unique_ptr<const PreTokenizer>;

/// At white space, which is dropped, and around each punctuation character.
PreTokenizerPtr bert_pre_tokenizer();
/// Runs of word characters, and runs of others that are not white space: \w+|[^\w\s]+
PreTokenizerPtr whitespace();
PreTokenizerPtr whitespace_split();
PreTokenizerPtr punctuation(Delimiters behavior);
/// Around runs of numbers (general category N), or around each.
PreTokenizerPtr digits(bool individual);

/// At matches of the pattern, or between them if `invert`. `where` names the part in errors.
PreTokenizerPtr split(PatternText pattern, Delimiters behavior, bool invert, std::string_view where);
/// At the code point, which is dropped.
PreTokenizerPtr char_delimiter_split(char32_t delimiter);

enum class PrependScheme : std::uint8_t { always, first, never };

struct MetaspaceOptions {
  char32_t replacement = U'\u2581';               // of each space
  PrependScheme prepend = PrependScheme::always;  // to pieces that do not start with it; `first`: at the text's start
  bool split = true;                              // before each replacement
};
PreTokenizerPtr metaspace(const MetaspaceOptions& options);

/// Where the script changes; Hiragana and Katakana count as Han, as in SentencePiece.
PreTokenizerPtr unicode_scripts();
/// Pieces of `code_points` (above 0) each; the last one may be shorter.
PreTokenizerPtr fixed_length(std::size_t code_points);

struct ByteLevelOptions {
  bool add_prefix_space = true;  // before pieces that do not start with a space
  bool trim_offsets = true;      // used by the post-processor only
  bool use_regex = true;         // split by GPT-2's pattern
};
/// Leaves the pieces' bytes and marks the list as `byte_level`.
PreTokenizerPtr byte_level_pre_tokenizer(const ByteLevelOptions& options);

/// Applies the parts in order; none may be null. Parts after a ByteLevel get the characters.
PreTokenizerPtr pre_tokenizer_sequence(std::vector<PreTokenizerPtr> parts);

}  // namespace alate::tokenizers
