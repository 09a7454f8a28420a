// The texts that a verb works on: its arguments, or the lines of a file or of standard input.
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

/// Where texts come from, as the command line says.
struct TextInput {
  std::vector<std::string> arguments;
  std::string file;  // "-": standard input
  std::string format;
};

/// Adds TEXT..., --file and --input.
void declare(Arguments& arguments, TextInput& input);

class TextSource {
 public:
  /// Throws invalid_argument for arguments beside a file and for an unknown format; not_found or unavailable for the
  /// file.
  explicit TextSource(TextInput input);

  /// Nothing at the end. In JSON lines empty lines are skipped, invalid UTF-8 and lone surrogates become U+FFFD, and
  /// anything but {"text": ..., "pair"?: ...} is invalid_argument with the line's number.
  std::optional<InputText> next();
  /// A line as JSON, whatever it says; the arguments count as lines. Throws invalid_argument.
  std::optional<formats::Json> next_json();
  /// Whether `next` may have to wait for input.
  bool may_wait() const { return lines_ && !lines_->has_line(); }
  /// "line 3 of standard input": where the last one came from.
  std::string place() const;

 private:
  std::optional<std::string> next_line();

  std::vector<std::string> arguments_;
  std::size_t taken_ = 0;
  std::unique_ptr<LineReader> lines_;  // null: the arguments are the texts
  bool is_json_ = false;
};

}  // namespace alate::app
