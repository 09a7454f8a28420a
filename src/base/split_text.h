// Splitting of text at separators.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace alate::base {

/// The parts between separators: one more than there are separators; parts may be empty. Views of `text`.
std::vector<std::string_view> split_text(std::string_view text, char separator);

/// The entries of a list of a command line: what is between commas, without spaces at its ends; empty ones are omitted.
/// An entry with a comma is in double quotes, as in CSV, where "" is a quote itself: `cats, "dogs, small"`. Throws
/// invalid_argument for quotes that are not closed, or not at the end of an entry.
std::vector<std::string> split_list(std::string_view text);

}  // namespace alate::base
