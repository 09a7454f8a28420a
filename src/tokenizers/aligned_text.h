// A text under normalization that remembers where each of its bytes comes from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizers/unicode/normal_forms.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers {

/// A range of bytes.
struct Span {
  std::uint32_t begin;
  std::uint32_t end;

  bool operator==(const Span&) const = default;
};

/// Valid UTF-8 and, for each byte of it, the span of the original text that it stands for. Not thread-safe.
class AlignedText {
 public:
  /// The part of `original` (valid UTF-8, below 4 GiB) that `part` names. Without `track`, no alignment is kept.
  AlignedText(std::string_view original, Span part, bool track);

  std::string_view text() const { return text_; }
  std::size_t size() const { return text_.size(); }
  bool empty() const { return text_.empty(); }
  bool tracks() const { return track_; }

  /// The span of the original that the byte comes from. Only when tracking.
  Span source(std::size_t byte) const {
    if (!ascii_) return alignment_[byte];
    const auto begin = static_cast<std::uint32_t>(origin_ + byte);
    return {begin, begin + 1};
  }
  /// The span of the original that a range of bytes, not empty, comes from.
  Span source(Span range) const { return {source(range.begin).begin, source(range.end - 1).end}; }

  /// The bytes to change in place, when all are ASCII and still the original's, one for one; else nothing.
  /// What is written must be ASCII.
  std::span<char> ascii_in_place() { return ascii_ ? std::span<char>(text_) : std::span<char>(); }

  /// Replaces the whole text. `removed_first` code points of the old text are gone from its start; the changes account
  /// for the others in their order.
  void transform(std::span<const Change> changes, std::size_t removed_first = 0);

  /// Removes the code points that `keep` refuses.
  template <typename Keep>
  void filter(Keep keep);

  /// Replaces the text by one made elsewhere; `alignment` has an entry a byte, or is empty without tracking.
  void assign(std::string text, std::vector<Span> alignment);

  /// Appends another part of the same original.
  void append(AlignedText other);

 private:
  void write_alignment();

  std::string text_;
  std::vector<Span> alignment_;  // empty while ascii_, or without tracking
  std::uint32_t origin_;         // where the part starts in the original
  bool ascii_;                   // all ASCII, and byte i is the original's byte origin_ + i
  bool track_;
};

template <typename Keep>
void AlignedText::filter(Keep keep) {
  std::vector<Change> changes;
  std::int32_t removed = 0;
  std::size_t removed_first = 0;
  for (std::size_t at = 0; at < text_.size();) {
    const CodePoint c = decode_utf8(text_, at);
    at += c.length;
    if (!keep(c.value)) {
      ++removed;
      continue;
    }
    if (changes.empty()) {
      removed_first = static_cast<std::size_t>(removed);
    } else {
      changes.back().change = -removed;
    }
    removed = 0;
    changes.push_back({c.value, 0});
  }
  if (!changes.empty()) changes.back().change = -removed;
  transform(changes, removed_first);
}

}  // namespace alate::tokenizers
