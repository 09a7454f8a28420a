#include "apps/alate/texts/ranking_writer.h"

#include <algorithm>
#include <cstdio>

#include "alate/rerank.h"
#include "formats/json.h"
#include "pipelines/ranking_json.h"

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

std::string line_of(OutputFormat format, const RankedTexts& ranked, std::size_t index) {
  const float score = ranked.scores[index];
  std::string line;
  if (format == OutputFormat::jsonl) {
    line = "{" + ranked.members[index] + (ranked.members[index].empty() ? "" : ",");
    line += "\"index\":" + std::to_string(index) + ",\"relevance_score\":";
    formats::append_json_number(line, score);
    line += ",\"text\":";
    formats::append_json_string(line, ranked.texts[index]);
    line += ",\"truncated\":";
    line += std::ranges::binary_search(ranked.truncated, index) ? "true}" : "false}";
  } else if (format == OutputFormat::csv) {
    line = std::to_string(index) + ',';
    formats::append_json_number(line, score);
    line += ',' + csv_field(ranked.texts[index]);
  } else {
    line = rounded(score) + '\t' + on_one_line(ranked.texts[index]);
  }
  return line += '\n';
}

}  // namespace

void write_ranking(OutputFormat format, Output& output, std::string_view model, const RankedTexts& ranked,
                   std::optional<std::size_t> count) {
  if (format == OutputFormat::json) {
    output.write(pipelines::ranking_json({.model = model,
                                          .scores = ranked.scores,
                                          .count = count,
                                          .total_ns = ranked.total_ns,
                                          .load_ns = ranked.load_ns,
                                          .tokens = ranked.tokens,
                                          .truncated = ranked.truncated}) +
                 "\n");
    return;
  }
  if (format == OutputFormat::csv) output.write("index,relevance_score,text\n");
  for (const std::size_t index : best_first(ranked.scores, count)) output.write(line_of(format, ranked, index));
}

}  // namespace alate::app
