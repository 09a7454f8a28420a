#include "pipelines/chunk/text_structure.h"

#include <algorithm>
#include <optional>
#include <string>

#include "tokenizers/unicode/canonical_text.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::pipelines {
namespace {

constexpr std::size_t kMostIndentation = 3;  // of headings and fences: more makes a block of code

std::string_view without_indentation(std::string_view line) {
  const std::size_t spaces = std::min(line.find_first_not_of(' '), line.size());
  return spaces <= kMostIndentation ? line.substr(spaces) : std::string_view();
}

std::size_t run_length(std::string_view line, char c) { return std::min(line.find_first_not_of(c), line.size()); }

// The level of an ATX heading (CommonMark 0.31, section 4.2); 0 for other lines.
std::size_t heading_level(std::string_view line) {
  line = without_indentation(line);
  const std::size_t level = run_length(line, '#');
  if (level == 0 || level > 6) return 0;
  return level == line.size() || line[level] == ' ' || line[level] == '\t' || line[level] == '\r' ? level : 0;
}

// Fenced code (section 4.5): from a fence to one of the same characters, as long or longer, with nothing behind it.
class Fences {
 public:
  // Whether the line is a fence or inside of one.
  bool covers(std::string_view line) {
    line = without_indentation(line);
    const char mark = line.empty() ? ' ' : line.front();
    const std::size_t length = mark == '`' || mark == '~' ? run_length(line, mark) : 0;
    if (length_ > 0) {
      const bool is_bare = line.find_first_not_of(" \t\r", length) == std::string_view::npos;
      if (mark == mark_ && length >= length_ && is_bare) length_ = 0;
      return true;
    }
    const bool opens = length >= 3 && (mark == '~' || line.find('`', length) == std::string_view::npos);
    if (!opens) return false;
    mark_ = mark;
    length_ = length;
    return true;
  }

 private:
  char mark_ = ' ';
  std::size_t length_ = 0;  // of the open fence; 0: none is open
};

}  // namespace

TextStructure structure_of(std::string_view text) {
  TextStructure found;
  Fences fences;
  bool is_after_blank = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    const bool is_blank = line.find_first_not_of(" \t\r\f\v") == std::string_view::npos;
    found.lines.push_back(at);
    if (!is_blank && is_after_blank) found.paragraphs.push_back(at);
    is_after_blank = is_blank;
    const std::size_t level = fences.covers(line) ? 0 : heading_level(line);
    if (level > 0) found.headings[level - 1].push_back(at);
    at = end + 1;
  }
  return found;
}

std::vector<std::size_t> section_starts(std::string_view text, std::string_view separator) {
  const std::optional<std::string> repaired = tokenizers::repair_utf8(separator);
  if (repaired) separator = *repaired;
  return separator.empty() ? std::vector<std::size_t>() : tokenizers::canonical_match_ends(text, separator);
}

}  // namespace alate::pipelines
