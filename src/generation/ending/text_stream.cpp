#include "generation/ending/text_stream.h"

#include <algorithm>

#include "tokenizers/unicode/utf8.h"

namespace alate::generation {

TextStream::TextStream(std::span<const std::string> stops, bool include_stop) : include_stop_(include_stop) {
  stops_.reserve(stops.size());
  for (const std::string& stop : stops) stops_.push_back(made(stop));
}

TextStream::Stop TextStream::made(std::string_view text) {
  Stop stop{std::string(text), std::vector<std::size_t>(text.size() + 1), 0};
  for (std::size_t i = 1; i < text.size(); ++i) {
    std::size_t border = stop.borders[i];
    while (border > 0 && text[border] != text[i]) border = stop.borders[border];
    stop.borders[i + 1] = text[border] == text[i] ? border + 1 : 0;
  }
  return stop;
}

void TextStream::advance(Stop& stop, char byte) {
  if (stop.matched == stop.text.size()) stop.matched = stop.borders[stop.matched];
  while (stop.matched > 0 && stop.text[stop.matched] != byte) stop.matched = stop.borders[stop.matched];
  if (stop.text[stop.matched] == byte) ++stop.matched;
}

void TextStream::push(std::string_view bytes, std::string& shown, bool may_stop) {
  if (stopped_by_.has_value()) return;
  bytes_ += bytes;
  const std::size_t unfinished = tokenizers::incomplete_utf8_tail(bytes_);
  const std::string_view whole = std::string_view(bytes_).substr(0, bytes_.size() - unfinished);
  if (const auto repaired = tokenizers::repair_utf8(whole); repaired.has_value()) {
    add_text(*repaired, shown, may_stop);
  } else {
    add_text(whole, shown, may_stop);
  }
  bytes_.erase(0, whole.size());
}

void TextStream::add_text(std::string_view text, std::string& shown, bool may_stop) {
  const std::size_t held_before = held_.size();
  held_ += text;
  if (stops_.empty()) {
    shown += held_;
    held_.clear();
    return;
  }
  for (std::size_t i = held_before; i < held_.size(); ++i) {
    for (std::size_t which = 0; which < stops_.size(); ++which) {
      Stop& stop = stops_[which];
      advance(stop, held_[i]);
      if (!may_stop || stop.matched < stop.text.size()) continue;
      if (!stopped_by_.has_value() || stop.text.size() > stops_[*stopped_by_].text.size()) stopped_by_ = which;
    }
    if (!stopped_by_.has_value()) continue;
    const std::size_t end = i + 1;
    shown += std::string_view(held_).substr(0, include_stop_ ? end : end - stops_[*stopped_by_].text.size());
    held_.clear();
    return;
  }
  std::size_t begun = 0;  // bytes at the end that may be the beginning of a stop text
  for (const Stop& stop : stops_)
    begun = std::max(begun, stop.matched < stop.text.size() ? stop.matched : stop.borders[stop.matched]);
  shown += std::string_view(held_).substr(0, held_.size() - begun);
  held_.erase(0, held_.size() - begun);
}

void TextStream::finish(std::string& shown) {
  if (stopped_by_.has_value()) return;
  shown += held_;
  held_.clear();
  if (!bytes_.empty()) tokenizers::append_utf8(shown, 0xFFFD);
  bytes_.clear();
}

}  // namespace alate::generation
