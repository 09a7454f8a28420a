#include "apps/alate/texts/id_lines.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>
#include <utility>

#include "alate/error.h"
#include "formats/json.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::app {
namespace {

constexpr std::string_view kBetweenIds = " \t\r,";

constexpr formats::JsonLimits kIdLimits = {.max_depth = 64, .max_bytes = std::size_t{1} << 30};

bool is_plain(std::string_view text) {
  return text.find_first_not_of(kBetweenIds) != std::string_view::npos &&
         text.find_first_not_of("0123456789 \t\r,") == std::string_view::npos;
}

std::vector<std::int32_t> read_plain(std::string_view text, const std::string& place) {
  std::vector<std::int32_t> ids;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(kBetweenIds), text.size()));
    if (text.empty()) return ids;
    const std::string_view digits = text.substr(0, text.find_first_of(kBetweenIds));
    std::int32_t id = 0;
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), id);
    if (problem != std::errc() || end != digits.data() + digits.size())
      throw make_error(ErrorCode::invalid_argument, place, " has an id out of range");
    ids.push_back(id);
    text.remove_prefix(digits.size());
  }
}

std::vector<std::int32_t> read_list(const formats::Json& list, const std::string& place) {
  std::vector<std::int32_t> ids;
  for (const formats::Json& id : list.as_array("ids")) {
    const std::int64_t value = id.as_int(place + ": an id");
    if (value < 0 || value > std::numeric_limits<std::int32_t>::max())
      throw make_error(ErrorCode::invalid_argument, place, " has an id out of range");
    ids.push_back(static_cast<std::int32_t>(value));
  }
  return ids;
}

formats::Json parsed(std::string_view text, const std::string& place) {
  try {
    return formats::parse_json(text, place, kIdLimits);
  } catch (const Error& error) {
    // For the caller, a line that is not JSON is bad input, not a damaged file.
    if (error.code() != ErrorCode::corrupt) throw;
    throw Error(ErrorCode::invalid_argument, error.message());
  }
}

// The ids of a line; nothing if it is blank.
std::optional<std::vector<std::int32_t>> ids_of(std::string_view line, const std::string& place) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  const std::size_t begin = line.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return std::nullopt;
  if (is_plain(line)) return read_plain(line, place);
  if (line[begin] != '{' && line[begin] != '[')
    throw make_error(ErrorCode::invalid_argument, place,
                     " is no list of ids: give them like 101 2054 102, or as {\"ids\": [101, 2054, 102]}");
  const formats::Json json = parsed(line, place);
  if (json.is_array()) return read_list(json, place);
  const formats::Json* ids = json.find("ids");
  if (ids == nullptr || !ids->is_array()) throw make_error(ErrorCode::invalid_argument, place, " has no list \"ids\"");
  return read_list(*ids, place);
}

}  // namespace

TextInput input_of_ids(TextInput input) {
  if (input.format.empty() || input.format == "jsonl") input.format = "text";  // each line says by itself what it is
  if (!input.arguments.empty() && std::ranges::all_of(input.arguments, is_plain)) {
    std::string all;
    for (const std::string& argument : input.arguments) all += (all.empty() ? "" : " ") + argument;
    input.arguments = {std::move(all)};
  }
  return input;
}

std::optional<std::vector<std::int32_t>> next_ids(TextSource& source) {
  while (auto line = source.next()) {
    if (auto repaired = tokenizers::repair_utf8(line->text)) line->text = std::move(*repaired);
    try {
      if (auto ids = ids_of(line->text, source.place())) return ids;
    } catch (const Error& error) {
      throw RefusedText(error);
    }
  }
  return std::nullopt;
}

}  // namespace alate::app
