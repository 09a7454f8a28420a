// A search result for people.
#pragma once

#include <string>

#include "alate/search.h"

namespace alate::app {

/// The score, the place and the text, in which the words of the question are marked: bold in a terminal, else between
/// asterisks. Text is as in terminal_text, on one line.
std::string shown_result(const SearchResult& result, bool is_terminal);

}  // namespace alate::app
