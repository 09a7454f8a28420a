// A text under normalization, with the origin of each byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizers/unicode/normal_forms.h"
#include "tokenizers/unicode/utf8.h"
#include "tokenizers/work_budget.h"

namespace alate::tokenizers {

/// A range of bytes.
struct Span {
  std::uint32_t begin;
  std::uint32_t end;

  bool operator==(const Span&) const = default;
};

/// Valid UTF-8 and, for each of its bytes, the corresponding span of the original text. Not thread-safe.
class AlignedText {
 public:
  /// Starts with the range `part` of `original` (valid UTF-8, below 4 GiB), which the caller keeps alive: it is only
  /// copied when it changes, as he keeps `budget`. Without `track`, no alignment is kept.
  AlignedText(std::string_view original, Span part, bool track, WorkBudget& budget);

  std::string_view text() const { return is_original_ ? original_ : std::string_view(text_); }
  std::size_t size() const { return text().size(); }
  bool empty() const { return text().empty(); }
  bool tracks() const { return track_; }
  /// Changes throw resource_exhausted for a text that is too long for it.
  WorkBudget& budget() const { return *budget_; }
  /// Whether all bytes are ASCII and correspond one-to-one to the original's.
  bool is_ascii_in_place() const { return is_ascii_ && in_place_; }

  /// The span of the original that the byte comes from. Requires tracking.
  Span source(std::size_t byte) const {
    if (!in_place_) return alignment_[byte];
    if (is_ascii_) return {static_cast<std::uint32_t>(origin_ + byte), static_cast<std::uint32_t>(origin_ + byte + 1)};
    return source_in_place(byte);
  }
  /// The span of the original that a non-empty range of bytes comes from.
  Span source(Span range) const { return {source(range.begin).begin, source(range.end - 1).end}; }

  /// The empty span where the part starts in the original.
  Span start() const { return {origin_, origin_}; }
  /// The number of leading bytes whose source starts where the original starts; known without tracking too.
  std::size_t at_start() const { return at_start_; }

  /// The source of what is inserted before everything.
  Span before_first() const { return {origin_, origin_}; }

  /// The bytes for in-place changes, if is_ascii_in_place(); otherwise empty. Only write ASCII.
  std::span<char> ascii_in_place();

  /// Replaces the whole text. `removed_first` code points are removed from the start of the old text; the changes
  /// account for the others, in order.
  void transform(std::span<const Change> changes, std::size_t removed_first = 0);

  /// Removes the code points for which `keep` is false.
  template <typename Keep>
  void filter(Keep keep);

  /// Replaces the text by the given one; `alignment` has one entry per byte, or is empty without tracking. `at_start`
  /// is the new value of at_start().
  void assign(std::string text, std::vector<Span> alignment, std::size_t at_start);

  /// Appends another part of the same original.
  void append(AlignedText other);

 private:
  Span source_in_place(std::size_t byte) const;
  void write_text();
  void write_alignment();

  std::string_view original_;    // the part of the original text; the whole text while is_original_
  std::string text_;             // otherwise
  std::vector<Span> alignment_;  // empty while in_place_, or without tracking
  std::size_t at_start_ = 0;
  std::uint32_t origin_;  // where the part starts in the original
  bool is_original_ = true;
  bool in_place_ = true;  // byte i is, or has replaced, the original's byte origin_ + i
  bool is_ascii_;         // while in_place_
  bool track_;
  WorkBudget* budget_;
};

template <typename Keep>
void AlignedText::filter(Keep keep) {
  std::vector<Change> changes;
  std::int32_t removed = 0;
  std::size_t removed_first = 0;
  const std::string_view old = text();
  Progress progress(*budget_);
  for (std::size_t at = 0; at < old.size();) {
    progress.reached(at);
    const CodePoint c = decode_utf8(old, at);
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
