#include "apps/alate/texts/ranking_writer.h"

#include <algorithm>
#include <cstdio>

#include "apps/alate/texts/on_error.h"
#include "formats/json.h"

namespace alate::app {
namespace {

// A text on one line: what JSON lines carry may have line breaks.
std::string on_one_line(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return text;
}

// RFC 4180.
std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string field = "\"";
  for (const char c : text) field += c == '"' ? "\"\"" : std::string(1, c);
  return field += '"';
}

std::string rounded(float score) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.6f", double{score});
  return text.data();
}

}  // namespace

std::string ranking_line(OutputFormat format, const RankedText& ranked) {
  std::string line;
  if (format == OutputFormat::jsonl) {
    line = begin_line(ranked.members);
    line += "\"index\":" + std::to_string(ranked.index) + ",\"relevance_score\":";
    formats::append_json_number(line, ranked.score);
    line += ",\"text\":";
    formats::append_json_string(line, ranked.text);
    line += ",\"truncated\":";
    line += ranked.is_truncated ? "true}" : "false}";
  } else if (format == OutputFormat::csv) {
    line = std::to_string(ranked.index) + ',';
    formats::append_json_number(line, ranked.score);
    line += ',' + csv_field(ranked.text);
  } else {
    line = rounded(ranked.score) + '\t' + on_one_line(std::string(ranked.text));
  }
  return line += '\n';
}

std::string_view ranking_head(OutputFormat format) {
  return format == OutputFormat::csv ? "index,relevance_score,text\n" : "";
}

}  // namespace alate::app
