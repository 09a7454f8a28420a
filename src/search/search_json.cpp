#include "search/search_json.h"

#include <cstddef>

#include "formats/json.h"

namespace alate::search {

void append_result(std::string& out, const SearchResult& result) {
  const auto number = [&](const char* name, std::size_t value) {
    out += std::string(",\"") + name + "\":" + std::to_string(value);
  };
  out += "{\"id\":" + std::to_string(result.id) + ",\"file\":";
  formats::append_json_string(out, result.file);
  number("line", result.line);
  number("start", result.start);
  number("end", result.end);
  number("byte_start", result.byte_start);
  number("byte_end", result.byte_end);
  out += ",\"text\":";
  formats::append_json_string(out, result.text);
  out += ",\"score\":";
  formats::append_json_number(out, result.score);
  out += ",\"spans\":[";
  for (std::size_t i = 0; i < result.spans.size(); ++i) {
    const auto& [start, end] = result.spans[i];
    out += std::string(i == 0 ? "[" : ",[") + std::to_string(start) + "," + std::to_string(end) + "]";
  }
  out += "]}";
}

std::string results_json(std::span<const SearchResult> results) {
  std::string out = "{\"results\":[";
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (i > 0) out += ',';
    append_result(out, results[i]);
  }
  return out += "]}";
}

}  // namespace alate::search
