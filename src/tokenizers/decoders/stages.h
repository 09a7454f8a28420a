// Parts that stages of decoders have in common.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "tokenizers/decoders/decoder.h"

namespace alate::tokenizers {

/// A decoder from a class of stages and the options that its constructor takes behind the next stage. Each stage
/// refers to the options in the decoder.
template <typename Stage, typename... Options>
class StageDecoder final : public Decoder {
 public:
  explicit StageDecoder(Options... options) : options_(std::move(options)...) {}
  std::unique_ptr<TokenSink> stage(TokenSink& next) const override {
    return std::apply([&](const Options&... options) { return std::make_unique<Stage>(next, options...); }, options_);
  }

 private:
  std::tuple<Options...> options_;
};

template <typename Stage, typename... Options>
DecoderPtr make_decoder(Options... options) {
  return std::make_unique<StageDecoder<Stage, Options...>>(std::move(options)...);
}

/// A stage that looks at whole tokens: it keeps the parts of a token until the token ends.
class WholeTokenStage : public TokenSink {
 public:
  explicit WholeTokenStage(TokenSink& next) : next_(next) {}

  void text(std::string_view part) final { token_.append(part); }
  void end_token() final {
    take(token_);
    token_.clear();
  }
  void finish() final {
    end();
    token_.clear();
    next_.finish();
  }

 protected:
  /// Handles a token, which it may change.
  virtual void take(std::string& token) = 0;
  /// Writes what is still held back, and makes the stage as new.
  virtual void end() {}

  void write(std::string_view token) {
    next_.text(token);
    next_.end_token();
  }
  TokenSink& next() { return next_; }

 private:
  TokenSink& next_;
  std::string token_;
};

/// Appends a replacement. Throws resource_exhausted beyond kMaxReplacedBytes: a file may state decoders that multiply
/// a text again and again.
void append_replacement(std::string& out, std::string_view replacement);

inline constexpr std::size_t kMaxReplacedBytes = std::size_t{1} << 28;

/// Replaces each occurrence of a fixed string in a text that comes in parts (Knuth, Morris, Pratt). Holds back a
/// possible beginning of an occurrence and nothing else.
class StreamedReplacement {
 public:
  /// `from` is not empty.
  StreamedReplacement(std::string from, std::string to);

  /// Appends to `out` what is final of the text so far.
  void add(std::string_view part, std::string& out);
  /// Appends the rest; another text may begin.
  void finish(std::string& out);

 private:
  std::string from_;
  std::string to_;
  std::vector<std::size_t> fallback_;  // by a number of matching bytes, the next smaller number that may match
  std::size_t matching_ = 0;           // the last bytes of the text that are the first of from_
};

/// Removes spaces before punctuation and in contractions, as the reference's WordPiece decoder does.
void clean_up_word(std::string& text);

/// An empty `from` matches at each end of a code point, as in Rust's str::replace.
void replace_all(std::string& text, std::string_view from, std::string_view to);

}  // namespace alate::tokenizers
