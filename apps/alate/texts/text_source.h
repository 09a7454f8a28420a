// Input texts of a verb: its arguments, or the lines of a file or of standard input.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alate/error.h"
#include "apps/alate/arguments.h"
#include "apps/alate/texts/line_reader.h"
#include "formats/json.h"

namespace alate::app {

/// A text, or a pair of texts.
struct InputText {
  std::string text;
  std::optional<std::string> pair;
  /// The other members of its JSON line as they are written there, `"id": 7,"title": "x"`; only after
  /// TextSource::keep_members.
  std::string members = {};
};

/// The error of a text, or of a line that has none: those behind it may still be good.
class RefusedText : public Error {
 public:
  explicit RefusedText(const Error& error) : Error(error) {}
};

enum class InvalidUtf8 { refuse, replace };

/// The source of texts, as given on the command line.
struct TextInput {
  std::vector<std::string> arguments = {};
  std::string file = {};  // "-": standard input
  std::string format = {};
  InvalidUtf8 invalid_utf8 = InvalidUtf8::refuse;
};

/// Declares TEXT..., --file, --input and --invalid-utf8.
void declare(Arguments& arguments, TextInput& input, std::string_view what_of_file = "texts from there, one a line");
/// Declares --invalid-utf8.
void declare(Arguments& arguments, InvalidUtf8& invalid_utf8);

class TextSource {
 public:
  /// Throws invalid_argument for text arguments together with a file and for an unknown format; not_found or
  /// unavailable for the file.
  explicit TextSource(TextInput input);

  /// Nothing at the end. In JSON lines, empty lines are skipped, lone surrogates become U+FFFD, and anything but
  /// {"text": ..., "pair"?: ...} is invalid_argument with the line number. So are bytes that are not UTF-8 where they
  /// are refused; where they are to be replaced, JSON lines have U+FFFD in their place, and other lines are unchanged:
  /// tokenizers replace them.
  std::optional<InputText> next();
  /// A line as arbitrary JSON; each argument counts as a line. Throws invalid_argument.
  std::optional<formats::Json> next_json();

  /// `next` keeps the other members of JSON lines, except those called like one of `own`, of which it warns once. Call
  /// before the first text; `own` must outlive this object.
  void keep_members(std::span<const std::string_view> own);

  /// Waits at most so long for the next text; whether `next` would still have to wait for it.
  bool may_wait(std::chrono::milliseconds patience = {});
  /// Whether a person types the texts.
  bool is_typed() const { return is_typed_; }
  /// Whether the texts can be read twice: arguments, or a regular file.
  bool can_rewind() const { return !lines_ || lines_->can_rewind(); }
  /// Goes back to the first text. Throws unavailable.
  void rewind();
  /// For inputs that can be read twice: `position` is the place behind the last text, once `keep_position` has been
  /// called before the first; `skip_to` goes from the first text to such a place of an earlier run, if the bytes before
  /// it are still the same; else it returns false, somewhere in the input.
  void keep_position() {
    if (lines_) lines_->keep_digest();
  }
  InputPosition position() const { return lines_ ? lines_->position() : InputPosition(); }
  bool skip_to(const InputPosition& position);
  /// The share of a file that has been taken, from 0 to 1; nothing where its length is not known.
  std::optional<double> share() const { return lines_ ? lines_->share() : std::nullopt; }
  /// "line 3 of standard input": the position of the last text.
  std::string place() const;
  /// The number of the last text's line, or of the argument, from 1.
  std::size_t line() const { return lines_ ? lines_->number() : taken_; }

 private:
  std::optional<std::string> next_line();
  std::optional<std::string> next_json_line();
  formats::Json parse(std::string_view line) const;
  std::string other_members(const formats::Json& json, std::string_view line);
  void require_utf8(std::string_view line) const;

  std::vector<std::string> arguments_;
  std::size_t taken_ = 0;
  std::unique_ptr<LineReader> lines_;  // null: the arguments are the texts
  InvalidUtf8 invalid_utf8_;
  bool is_json_ = false;
  bool is_typed_ = false;
  bool keeps_members_ = false;
  std::span<const std::string_view> own_members_;
  std::vector<std::string_view> warned_of_;
};

}  // namespace alate::app
