// Input texts of a verb: its arguments, or the lines of a file or of standard input.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/alate/arguments.h"
#include "apps/alate/texts/line_reader.h"
#include "formats/json.h"

namespace alate::app {

/// A text, or a pair of texts.
struct InputText {
  std::string text;
  std::optional<std::string> pair;
};

/// The source of texts, as given on the command line.
struct TextInput {
  std::vector<std::string> arguments;
  std::string file;  // "-": standard input
  std::string format;
};

/// Declares TEXT..., --file and --input.
void declare(Arguments& arguments, TextInput& input);

class TextSource {
 public:
  /// Throws invalid_argument for text arguments together with a file and for an unknown format; not_found or
  /// unavailable for the file.
  explicit TextSource(TextInput input);

  /// Nothing at the end. In JSON lines, empty lines are skipped, invalid UTF-8 and lone surrogates become U+FFFD, and
  /// anything but {"text": ..., "pair"?: ...} is invalid_argument with the line number.
  std::optional<InputText> next();
  /// A line as arbitrary JSON; each argument counts as a line. Throws invalid_argument.
  std::optional<formats::Json> next_json();
  /// Whether `next` may have to wait for input.
  bool may_wait() const { return lines_ && !lines_->has_line(); }
  /// "line 3 of standard input": the position of the last text.
  std::string place() const;

 private:
  std::optional<std::string> next_line();

  std::vector<std::string> arguments_;
  std::size_t taken_ = 0;
  std::unique_ptr<LineReader> lines_;  // null: the arguments are the texts
  bool is_json_ = false;
};

}  // namespace alate::app
