// Reads a JSON text value by value, without building a tree: for large files whose lists go straight into tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "formats/json.h"

namespace alate::formats {

/// A position in one JSON text (UTF-8; the same grammar and errors as parse_json, which names `what` and the byte
/// offset). The caller asks for what it expects; anything else throws corrupt. Keys that occur twice are not noticed.
/// Views point into the text or into the reader, where they are valid until the next string is read. Not thread-safe.
class JsonReader {
 public:
  /// `text` must outlive the reader. Throws resource_exhausted over the limit on bytes, corrupt for invalid UTF-8.
  /// `offset` is added to the positions in errors, for a text that is part of a file.
  JsonReader(std::string_view text, std::string_view what, const JsonLimits& limits = {}, std::size_t offset = 0);

  /// The first character of the value that comes next: '{', '[', '"', 't', 'f', 'n', '-' or a digit.
  char peek() {
    skip_space();
    if (at_ >= text_.size()) fail("");
    return text_[at_];
  }

  /// An object's members are read by `begin_object`, then `next_member` for each key and a value, until it is false.
  void begin_object();
  bool next_member(std::string_view& key);
  /// An array's elements are read by `begin_array`, then a value after each `next_element`, until it is false.
  void begin_array();
  bool next_element();

  std::string_view read_string();
  /// The digits of a number, as they are written.
  std::string_view read_number();
  /// Passes over a value of any kind, checks its grammar, and returns its text.
  std::string_view skip_value();
  std::size_t bytes_left() const { return text_.size() - at_; }
  /// Throws unless only white space is left.
  void finish();

  /// Throws corrupt with the present position and the reason.
  [[noreturn]] void fail(std::string_view reason) const;

 private:
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
  }
  void expect(char wanted) {
    if (peek() != wanted) fail("this is no JSON, or not what is expected here");
    ++at_;
  }
  void enter();
  bool next_in_container(char end);
  bool skip_plain_characters();
  void read_escape(std::string* decoded);
  std::uint32_t read_code_unit();
  void skip_literal(std::string_view literal);

  std::string_view text_;
  std::string_view what_;
  std::size_t offset_;
  std::size_t max_depth_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  bool is_first_ = false;  // whether the next member or element is the first of its container
  std::string decoded_;    // the last string, if it had escapes
};

}  // namespace alate::formats
