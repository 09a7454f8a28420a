// The texts of a long input in parts, and the warning of texts that were cut.
#pragma once

#include <cstddef>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "apps/alate/texts/text_source.h"

namespace alate::app {

struct TextPart {
  std::vector<std::string> texts;
  std::vector<std::string> members;  // of JSON lines, as InputText::members
  std::exception_ptr failure;        // of the line behind them
};

/// Finds what is wrong with an input that can be read twice before hours of work go into the texts before that line.
/// `verb` takes single texts: it is named in the error for a pair.
void check_single_texts(TextSource& source, std::string_view verb);

/// The next texts, of a number and size that fill batches well and take little memory; none at the end.
/// `ends_early`: a part ends where the input pauses, so that results of what is there leave the program, and before a
/// line that is refused, whose error it then has. Throws as TextSource::next, and invalid_argument for a pair.
TextPart next_part(TextSource& source, std::string_view verb, bool ends_early);

/// Warns of texts that were cut: `truncated` are their indices among `texts`.
void warn_of_truncated(const std::vector<std::size_t>& truncated, std::size_t texts, std::size_t max_length);

}  // namespace alate::app
