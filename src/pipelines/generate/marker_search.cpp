#include "pipelines/generate/marker_search.h"

#include <algorithm>
#include <utility>

namespace alate::pipelines {

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

MarkerSearch::MarkerSearch(std::initializer_list<std::string_view> markers) {
  for (const std::string_view marker : markers) {
    if (!marker.empty() && std::ranges::find(markers_, marker) == markers_.end()) markers_.push_back(marker);
  }
}

std::optional<std::string_view> MarkerSearch::add(char byte, std::string& passed) {
  begun_ += byte;
  while (!begun_.empty()) {
    const auto found =
        std::ranges::find_if(markers_, [&](std::string_view marker) { return marker.starts_with(begun_); });
    if (found != markers_.end()) {
      if (found->size() > begun_.size()) return std::nullopt;
      begun_.clear();
      return *found;
    }
    passed += begun_.front();
    begun_.erase(0, 1);
  }
  return std::nullopt;
}

void MarkerSearch::finish(std::string& passed) {
  passed += begun_;
  begun_.clear();
}

ExpectedMarker::Step ExpectedMarker::add(char byte, std::initializer_list<std::string_view> markers) {
  if (begun_.empty() && is_blank(byte)) return Step::more;
  begun_ += byte;
  for (const std::string_view marker : markers) {
    if (marker.empty() || !marker.starts_with(begun_)) continue;
    if (marker.size() > begun_.size()) return Step::more;
    which_ = marker;
    begun_.clear();
    return Step::found;
  }
  return Step::other;
}

std::string ExpectedMarker::take_unread() { return std::exchange(begun_, {}); }

void append_holding_blanks(std::string& held, std::string_view text, std::string& out) {
  std::size_t end = text.size();
  while (end > 0 && is_blank(text[end - 1])) --end;
  if (end > 0) {
    out += held;
    held.clear();
    out += text.substr(0, end);
  }
  held += text.substr(end);
}

}  // namespace alate::pipelines
