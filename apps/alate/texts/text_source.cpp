#include "apps/alate/texts/text_source.h"

#include <utility>

#include "alate/error.h"
#include "base/files/descriptor_io.h"
#include "base/log.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::app {
namespace {

// A line holds one text and few values; one text of this size is accepted everywhere else.
constexpr formats::JsonLimits kLineLimits = {.max_depth = 64, .max_bytes = std::size_t{1} << 30};

std::string string_member(const formats::Json& object, std::string_view key, const std::string& place) {
  const formats::Json* member = object.find(key);
  if (member == nullptr || !member->is_string())
    throw make_error(ErrorCode::invalid_argument, place, " has no string \"", key, "\"");
  return member->as_string(key);
}

}  // namespace

void declare(Arguments& arguments, TextInput& input) {
  arguments.positionals("TEXT", input.arguments);
  arguments.option("--file", "FILE", "read texts from there, one a line; - is standard input", input.file);
  arguments.option("--input", "FORMAT", "of the file: text, or jsonl with {\"text\": ...} a line", input.format);
}

TextSource::TextSource(TextInput input) : arguments_(std::move(input.arguments)) {
  if (!input.format.empty() && input.format != "text" && input.format != "jsonl")
    throw make_error(ErrorCode::invalid_argument, "--input is one of text, jsonl");
  if (!arguments_.empty()) {
    if (!input.file.empty())
      throw make_error(ErrorCode::invalid_argument, "texts come as arguments or from --file, not both");
    is_json_ = input.format == "jsonl";
    return;
  }
  is_json_ = input.format.empty() ? input.file.ends_with(".jsonl") : input.format == "jsonl";
  const bool is_standard = input.file.empty() || input.file == "-";
  if (is_standard && base::is_terminal(base::kStandardInput))
    base::log(base::LogLevel::warn, "reading texts from the terminal, one a line; Ctrl-D ends them");
  lines_ = std::make_unique<LineReader>(is_standard ? std::filesystem::path() : std::filesystem::path(input.file));
}

std::optional<std::string> TextSource::next_line() {
  if (lines_) {
    const auto line = lines_->next();
    return line ? std::optional(std::string(*line)) : std::nullopt;
  }
  if (taken_ == arguments_.size()) return std::nullopt;
  return std::move(arguments_[taken_++]);
}

std::string TextSource::place() const { return lines_ ? lines_->place() : "text " + std::to_string(taken_); }

std::optional<formats::Json> TextSource::next_json() {
  for (;;) {
    auto line = next_line();
    if (!line) return std::nullopt;
    if (line->find_first_not_of(" \t\r") == std::string::npos) continue;
    if (auto repaired = tokenizers::repair_utf8(*line)) line = std::move(repaired);
    std::string_view text = *line;
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    try {
      return formats::parse_json(text, place(), kLineLimits);
    } catch (const Error& error) {
      // For the caller, a line that is not JSON is bad input, not a damaged file.
      if (error.code() != ErrorCode::corrupt) throw;
      throw Error(ErrorCode::invalid_argument, error.message());
    }
  }
}

std::optional<InputText> TextSource::next() {
  if (!is_json_) {
    auto line = next_line();
    return line ? std::optional(InputText{std::move(*line), {}}) : std::nullopt;
  }
  const auto json = next_json();
  if (!json) return std::nullopt;
  InputText input{string_member(*json, "text", place()), {}};
  if (const auto* pair = json->find("pair"); pair != nullptr && !pair->is_null())
    input.pair = string_member(*json, "pair", place());
  return input;
}

}  // namespace alate::app
