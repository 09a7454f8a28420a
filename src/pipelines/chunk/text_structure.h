// Where the units of a text begin: sections, paragraphs, lines, sentences.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

namespace alate::pipelines {

/// Byte offsets at which units begin, ascending. Each list may leave out the text's own start.
struct TextStructure {
  /// The lines that are ATX headings of markdown, by level, 1 to 6; those in fenced code are none.
  std::array<std::vector<std::size_t>, 6> headings;
  std::vector<std::size_t> paragraphs;  // lines after blank ones
  std::vector<std::size_t> lines;
};

/// Of a valid UTF-8 text. Takes linear time.
TextStructure structure_of(std::string_view text);

/// The byte offsets behind each separator, in composed letters or not; none where it is empty.
std::vector<std::size_t> section_starts(std::string_view text, std::string_view separator);

}  // namespace alate::pipelines
