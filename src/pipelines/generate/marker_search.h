// Finds markers in a text that comes byte by byte.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace alate::pipelines {

/// Blanks around tags and calls belong to neither side.
constexpr bool is_blank(char byte) { return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n'; }

/// The text but for the blanks around it.
std::string_view without_blanks(std::string_view text);

/// Holds back no more than what may be the beginning of a marker. None of the markers begins with another.
class MarkerSearch {
 public:
  MarkerSearch() = default;
  /// Empty markers do not count. The texts must outlive this.
  explicit MarkerSearch(std::initializer_list<std::string_view> markers);

  /// The marker that the byte completes, if it does; appends to `passed` the bytes that are no part of a marker.
  std::optional<std::string_view> add(char byte, std::string& passed);
  /// The text has ended: no marker is complete any more.
  void finish(std::string& passed);
  /// Whether nothing is held back.
  bool is_idle() const { return begun_.empty(); }
  bool has_markers() const { return !markers_.empty(); }

 private:
  std::vector<std::string_view> markers_;
  std::string begun_;
};

/// One of several markers that must come now, with blanks before it.
class ExpectedMarker {
 public:
  enum class Step { more, found, other };

  /// `found`, with `which` then, or `other`: then `unread` are the bytes since the blanks.
  Step add(char byte, std::initializer_list<std::string_view> markers);
  std::string_view which() const { return which_; }
  /// Whether nothing but blanks has come.
  bool is_idle() const { return begun_.empty(); }
  std::string take_unread();

 private:
  std::string begun_;
  std::string_view which_;
};

/// Appends to `out` the text so far but for the blanks at its end, which are held until more follows.
void append_holding_blanks(std::string& held, std::string_view text, std::string& out);

}  // namespace alate::pipelines
