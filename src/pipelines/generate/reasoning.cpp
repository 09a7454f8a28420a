#include "pipelines/generate/reasoning.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace alate::pipelines {
namespace {

constexpr std::string_view kOpen = "<think>", kClose = "</think>", kBlanks = " \t\r\n";

std::string_view without_blanks_at_end(std::string_view text) {
  const std::size_t last = text.find_last_not_of(kBlanks);
  return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

// The length of the end of `text` that may be the beginning of the closing tag, with the blanks before it.
std::size_t undecided(std::string_view text) {
  std::size_t tag = std::min(text.size(), kClose.size() - 1);
  while (tag > 0 && !kClose.starts_with(text.substr(text.size() - tag))) --tag;
  return text.size() - without_blanks_at_end(text.substr(0, text.size() - tag)).size();
}

}  // namespace

ReasoningSplit::ReasoningSplit(std::string_view prompt, Sink text, Sink reasoning)
    : on_text_(std::move(text)), on_reasoning_(std::move(reasoning)) {
  if (without_blanks_at_end(prompt).ends_with(kOpen)) part_ = Part::reasoning;
}

void ReasoningSplit::add(std::string_view piece) {
  held_ += piece;
  while (step(false)) {
  }
}

void ReasoningSplit::finish() {
  while (step(true)) {
  }
}

bool ReasoningSplit::step(bool is_end) {
  switch (part_) {
    case Part::before: {
      const std::size_t begin = std::min(held_.find_first_not_of(kBlanks), held_.size());
      const std::string_view rest = std::string_view(held_).substr(begin);
      if (rest.starts_with(kOpen)) {
        held_.erase(0, begin + kOpen.size());
        part_ = Part::reasoning;
        return true;
      }
      if (!is_end && kOpen.starts_with(rest)) return false;
      part_ = Part::text;
      return true;
    }
    case Part::reasoning: {
      if (reasoning_.empty()) held_.erase(0, std::min(held_.find_first_not_of(kBlanks), held_.size()));
      const std::size_t end = held_.find(kClose);
      if (end != std::string::npos) {
        give_reasoning(without_blanks_at_end(std::string_view(held_).substr(0, end)));
        held_.erase(0, end + kClose.size());
        part_ = Part::gap;
        return true;
      }
      const std::size_t certain = is_end ? held_.size() : held_.size() - undecided(held_);
      give_reasoning(std::string_view(held_).substr(0, certain));
      held_.erase(0, certain);
      return false;
    }
    case Part::gap: {
      held_.erase(0, std::min(held_.find_first_not_of(kBlanks), held_.size()));
      if (held_.empty()) return false;
      part_ = Part::text;
      return true;
    }
    case Part::text: {
      give_text(held_);
      held_.clear();
      return false;
    }
  }
  return false;
}

void ReasoningSplit::give_text(std::string_view piece) {
  if (piece.empty()) return;
  text_ += piece;
  if (on_text_) on_text_(piece);
}

void ReasoningSplit::give_reasoning(std::string_view piece) {
  if (piece.empty()) return;
  reasoning_ += piece;
  if (on_reasoning_) on_reasoning_(piece);
}

}  // namespace alate::pipelines
