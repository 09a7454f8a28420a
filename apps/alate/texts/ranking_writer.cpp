#include "apps/alate/texts/ranking_writer.h"

#include "apps/alate/field_text.h"
#include "apps/alate/texts/on_error.h"
#include "formats/json.h"

namespace alate::app {

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
    line = rounded(ranked.score) + '\t' + on_one_line(ranked.text);
  }
  return line += '\n';
}

std::string_view ranking_head(OutputFormat format) {
  return format == OutputFormat::csv ? "index,relevance_score,text\n" : "";
}

}  // namespace alate::app
