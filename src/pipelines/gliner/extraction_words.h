// The words of a text, as the package gliner2 separates them.
#pragma once

#include <string_view>
#include <vector>

#include "pipelines/gliner/text_words.h"

namespace alate::pipelines {

/// What Python's re finds of gliner2's WhitespaceTokenSplitter: addresses of pages and mail, @names, letters, digits,
/// underscores and combining marks, which hyphens may join, or any other character but a space. Linear in the text,
/// which must be valid UTF-8.
std::vector<TextWord> split_extraction_words(std::string_view text);

}  // namespace alate::pipelines
