// The text of tokens as they come, up to a stop text.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace alate::generation {

/// Turns the bytes of tokens into text that may be shown: whole code points, as soon as no stop text can begin in them.
/// How the bytes are divided among calls changes nothing in the text as a whole. Invalid UTF-8 becomes U+FFFD, one for
/// each maximal invalid part. Time is linear in the bytes (times the number of stop texts), memory is that of the
/// longest stop text. Not thread-safe.
class TextStream {
 public:
  /// `stops` are not empty and valid UTF-8. With `include_stop`, the stop text that ends the stream is shown.
  explicit TextStream(std::span<const std::string> stops = {}, bool include_stop = false);

  /// Appends to `shown` the text that has become final. After a stop text nothing more is shown. Where `may_stop` is
  /// false, a stop text that ends in these bytes is text like any other.
  void push(std::string_view bytes, std::string& shown, bool may_stop = true);
  /// Appends the rest; an unfinished code point becomes U+FFFD. Nothing may be pushed afterwards.
  void finish(std::string& shown);

  /// The stop text that ended the stream, by its place among `stops`: the first that was complete; of those that end at
  /// the same place, the longest.
  std::optional<std::size_t> stopped_by() const { return stopped_by_; }

 private:
  // A stop text and how much of it the text ends with (Knuth, Morris, Pratt 1977).
  struct Stop {
    std::string text;
    std::vector<std::size_t> borders;  // for each prefix, its longest proper suffix that is a prefix too
    std::size_t matched = 0;
  };

  static Stop made(std::string_view text);
  static void advance(Stop& stop, char byte);
  void add_text(std::string_view text, std::string& shown, bool may_stop);

  std::vector<Stop> stops_;
  bool include_stop_;
  std::optional<std::size_t> stopped_by_;
  std::string bytes_;  // the bytes of a push, after those of a code point that was unfinished before it
  std::string held_;   // text in which a stop text may have begun
};

}  // namespace alate::generation
