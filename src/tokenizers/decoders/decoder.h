// Decoders, which turn tokens back into text. A decoder is a chain of stages that pass text on as soon as it is final,
// so that a whole text and a stream of tokens are decoded by the same code, in linear time.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace alate::tokenizers {

struct MetaspaceOptions;  // pre_tokenizers/pre_tokenizer.h
struct PatternText;       // regex/pattern.h

/// Takes the text of tokens, one token after the other, each in any number of parts. Every part is valid UTF-8 of whole
/// code points. Not thread-safe.
class TokenSink {
 public:
  virtual ~TokenSink() = default;
  /// Appends to the current token.
  virtual void text(std::string_view part) = 0;
  /// Ends the current token, which may be empty.
  virtual void end_token() = 0;
  /// Ends the sequence of tokens. The sink is then as new.
  virtual void finish() = 0;
};

/// Immutable; thread-safe.
class Decoder {
 public:
  virtual ~Decoder() = default;
  /// A stage that writes the decoded tokens to `next`, which must outlive it. The decoder must outlive it too.
  virtual std::unique_ptr<TokenSink> stage(TokenSink& next) const = 0;
};

using DecoderPtr = std::unique_ptr<const Decoder>;

/// The bytes that a token's characters stand for; a token with a character that stands for no byte is taken as UTF-8.
/// Invalid UTF-8 in the result becomes U+FFFD, one for each maximal invalid part. Makes one token of all.
DecoderPtr byte_level_decoder();

/// Puts a space before each token but the first, or removes `prefix` from it. With `cleanup`, the spaces before
/// punctuation and contractions go.
DecoderPtr word_piece_decoder(std::string prefix, bool cleanup);

/// The replacement character becomes a space; in the first token it is removed, unless nothing is ever prepended.
DecoderPtr metaspace_decoder(const MetaspaceOptions& options);

/// `suffix` becomes a space; in the last token it is removed.
DecoderPtr bpe_decoder(std::string suffix);

/// Merges equal tokens in a row and removes `pad`. With `cleanup`, also as in word_piece_decoder, and `word_delimiter`
/// becomes a space.
DecoderPtr ctc_decoder(std::string pad, std::string word_delimiter, bool cleanup);

/// Runs of tokens like <0x61> become the text of their bytes, or one U+FFFD for each if they are not valid UTF-8.
DecoderPtr byte_fallback_decoder();

/// Makes one token of all.
DecoderPtr fuse_decoder();

/// Removes up to `start` times `content` at the start of each token and up to `stop` times at its end.
DecoderPtr strip_decoder(char32_t content, std::size_t start, std::size_t stop);

/// Replaces each match in each token. A regular expression sees a token only when it is complete.
DecoderPtr replace_decoder(PatternText pattern, std::string content, std::string_view where);

/// Each one decodes what the one before wrote.
DecoderPtr decoder_sequence(std::vector<DecoderPtr> parts);

/// What stands for "no decoder": a space between tokens.
DecoderPtr spaced_decoder();

}  // namespace alate::tokenizers
