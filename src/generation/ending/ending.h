// Decides where a text ends.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alate/sampling.h"
#include "generation/ending/text_stream.h"

namespace alate::generation {

/// The tokens that end a text, in order: the model's own, unless they are ignored, and those of the options.
std::vector<std::int32_t> end_tokens(const StoppingOptions& options, std::span<const std::int32_t> model_ends);

/// The tokens of one text, until one of them ends it. Not thread-safe.
class Ending {
 public:
  /// Throws invalid_argument for options out of their ranges.
  Ending(const StoppingOptions& options, std::span<const std::int32_t> model_ends);

  /// Adds a token and its bytes, and appends to `shown` the text that may be shown now. Why the text ends with this
  /// token, if it does; then the text is complete, and no more tokens may be added. A token that ends it has no text;
  /// where several reasons hold, length is the last.
  std::optional<FinishReason> add(std::int32_t token, std::string_view bytes, std::string& shown);
  /// Appends the rest of a text that ends for another reason.
  void finish(std::string& shown) { stream_.finish(shown); }

  /// Why the text ends before its first token: length, where max_tokens is 0.
  std::optional<FinishReason> before_first() const;
  /// The stop text that ended it; empty if none did.
  std::string_view stop_text() const;
  std::int64_t tokens() const { return tokens_; }

 private:
  std::optional<FinishReason> reason_of(std::int32_t token) const;

  StoppingOptions options_;
  std::vector<std::int32_t> model_ends_;
  TextStream stream_;
  std::int64_t tokens_ = 0;
};

}  // namespace alate::generation
