// The words of a text, as the package gliner separates them.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace alate::pipelines {

/// A part of a text.
struct TextWord {
  std::size_t begin = 0, end = 0;            // code points
  std::size_t byte_begin = 0, byte_end = 0;  // bytes
};

/// What Python's re finds of \w+(?:[-_]\w+)*|\S: letters, digits and underscores, which hyphens may join, or any other
/// character but a space. `text` must be valid UTF-8.
std::vector<TextWord> split_words(std::string_view text);

}  // namespace alate::pipelines
