#include "tokenizers/aligned_text.h"

#include <utility>

namespace alate::tokenizers {

AlignedText::AlignedText(std::string_view original, Span part, bool track, WorkBudget& budget)
    : original_(original.substr(part.begin, part.end - part.begin)),
      origin_(part.begin),
      is_ascii_(is_ascii(original_)),
      track_(track),
      budget_(&budget) {
  if (origin_ == 0 && !original_.empty()) at_start_ = decode_utf8(original_, 0).length;
}

Span AlignedText::source_in_place(std::size_t byte) const {
  const std::string_view bytes = text();
  while (!starts_code_point(bytes[byte])) --byte;
  const auto begin = static_cast<std::uint32_t>(origin_ + byte);
  return {begin, begin + static_cast<std::uint32_t>(decode_utf8(bytes, byte).length)};
}

std::span<char> AlignedText::ascii_in_place() {
  if (!is_ascii_in_place()) return {};
  write_text();
  return text_;
}

void AlignedText::write_text() {
  if (!is_original_) return;
  text_.assign(original_);
  is_original_ = false;
}

void AlignedText::write_alignment() {
  if (!in_place_) return;
  if (track_) {
    const std::string_view bytes = text();
    alignment_.reserve(bytes.size());
    Progress progress(*budget_);
    for (std::size_t at = 0; at < bytes.size();) {
      progress.reached(at);
      const std::size_t length = decode_utf8(bytes, at).length;
      const auto begin = static_cast<std::uint32_t>(origin_ + at);
      alignment_.insert(alignment_.end(), length, Span{begin, begin + static_cast<std::uint32_t>(length)});
      at += length;
    }
  }
  in_place_ = false;
}

void AlignedText::assign(std::string text, std::vector<Span> alignment, std::size_t at_start) {
  budget_->check_bytes(text.size());
  text_ = std::move(text);
  at_start_ = at_start;
  alignment_ = std::move(alignment);
  is_original_ = in_place_ = false;
}

void AlignedText::append(AlignedText other) {
  if (other.empty()) return;
  if (empty()) {
    *this = std::move(other);
    return;
  }
  budget_->check_bytes(size() + other.size());
  const bool continues = in_place_ && other.in_place_ && other.origin_ == origin_ + size();
  if (continues && is_original_ && other.is_original_) {
    original_ = {original_.data(), original_.size() + other.original_.size()};
  } else {
    write_text();
    if (!continues) write_alignment();
    if (!continues && track_) {
      for (std::size_t i = 0; i < other.size(); ++i) alignment_.push_back(other.source(i));
    }
    text_ += other.text();
  }
  is_ascii_ = is_ascii_ && other.is_ascii_;
}

// The alignment rules of NormalizedString::transform in the reference: an inserted code point maps to the same span as
// the byte before it, a replacing one to that of the replaced one.
void AlignedText::transform(std::span<const Change> changes, std::size_t removed_first) {
  write_alignment();
  const std::string_view old = this->text();
  std::string text;
  text.reserve(old.size());
  std::vector<Span> alignment;
  if (track_) alignment.reserve(old.size());
  std::size_t at = 0;  // position in the old text, after the processed part
  std::size_t at_start = 0;
  const auto skip_one = [&] {
    if (at < old.size()) at += decode_utf8(old, at).length;
  };
  for (std::size_t i = 0; i < removed_first; ++i) skip_one();
  Progress progress(*budget_);
  for (const Change& change : changes) {
    progress.reached(text.size());
    append_utf8(text, change.value);
    if (change.change > 0 ? (at == 0 ? origin_ == 0 : at <= at_start_) : at < at_start_) at_start = text.size();
    if (track_) {
      Span source{origin_, origin_};
      if (change.change > 0) {
        if (at > 0) source = alignment_[at - 1];
      } else if (at < alignment_.size()) {
        source = alignment_[at];
      }
      alignment.insert(alignment.end(), utf8_length(change.value), source);
    }
    if (change.change <= 0) {
      for (std::int32_t i = change.change; i <= 0; ++i) skip_one();
    }
  }
  assign(std::move(text), std::move(alignment), at_start);
}

}  // namespace alate::tokenizers
