#include "tokenizers/aligned_text.h"

#include <utility>

namespace alate::tokenizers {

AlignedText::AlignedText(std::string_view original, Span part, bool track)
    : text_(original.substr(part.begin, part.end - part.begin)),
      origin_(part.begin),
      ascii_(is_ascii(text_)),
      track_(track) {
  if (origin_ == 0 && !text_.empty()) at_start_ = decode_utf8(text_, 0).length;
  if (ascii_ || !track_) return;
  alignment_.reserve(text_.size());
  for (std::size_t at = 0; at < text_.size();) {
    const std::size_t length = decode_utf8(text_, at).length;
    const auto begin = static_cast<std::uint32_t>(origin_ + at);
    alignment_.insert(alignment_.end(), length, Span{begin, begin + static_cast<std::uint32_t>(length)});
    at += length;
  }
}

void AlignedText::write_alignment() {
  if (!ascii_) return;
  ascii_ = false;
  if (!track_) return;
  alignment_.reserve(text_.size());
  for (std::size_t at = 0; at < text_.size(); ++at) {
    const auto begin = static_cast<std::uint32_t>(origin_ + at);
    alignment_.push_back({begin, begin + 1});
  }
}

void AlignedText::assign(std::string text, std::vector<Span> alignment, std::size_t at_start) {
  text_ = std::move(text);
  at_start_ = at_start;
  alignment_ = std::move(alignment);
  ascii_ = false;
}

void AlignedText::append(AlignedText other) {
  if (other.empty()) return;
  if (empty()) {
    *this = std::move(other);
    return;
  }
  write_alignment();
  text_ += other.text_;
  if (!track_) return;
  for (std::size_t i = 0; i < other.size(); ++i) alignment_.push_back(other.source(i));
}

// The alignment rules of NormalizedString::transform in the reference: an inserted code point maps to the same span as
// the byte before it, a replacing one to that of the replaced one.
void AlignedText::transform(std::span<const Change> changes, std::size_t removed_first) {
  write_alignment();
  std::string text;
  text.reserve(text_.size());
  std::vector<Span> alignment;
  if (track_) alignment.reserve(text_.size());
  std::size_t at = 0;  // position in the old text, after the processed part
  std::size_t at_start = 0;
  const auto skip_one = [&] {
    if (at < text_.size()) at += decode_utf8(text_, at).length;
  };
  for (std::size_t i = 0; i < removed_first; ++i) skip_one();
  for (const Change& change : changes) {
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
  text_ = std::move(text);
  alignment_ = std::move(alignment);
  at_start_ = at_start;
}

}  // namespace alate::tokenizers
