#include "apps/alate/texts/text_source.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "alate/error.h"
#include "base/files/descriptor_io.h"
#include "base/log.h"
#include "formats/foreign_encoding.h"
#include "formats/json_members.h"
#include "formats/utf8.h"
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

// Calls `read`, whose errors are those of one line.
template <typename Read>
auto refusing(const Read& read) {
  try {
    return read();
  } catch (const Error& error) {
    throw RefusedText(error);
  }
}

// A name of a file among the texts is a text, and hardly meant to be one.
void warn_of_file_names(const std::vector<std::string>& texts) {
  constexpr std::size_t kMostLookedAt = 16;
  for (std::size_t i = 0; i < std::min(texts.size(), kMostLookedAt); ++i) {
    const std::string& text = texts[i];
    std::error_code ignored;
    if (text.find_first_of("./") == std::string::npos || !std::filesystem::is_regular_file(text, ignored)) continue;
    return base::log(base::LogLevel::warn, "a text is the name of a file", {{"text", std::to_string(i + 1)}},
                     "text " + std::to_string(i + 1) + " is the name of a file, which is not read; --file reads it");
  }
}

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t\r") == std::string_view::npos; }

}  // namespace

void declare(Arguments& arguments, TextInput& input, std::string_view what_of_file) {
  arguments.positionals("TEXT", input.arguments);
  arguments.option("--file", "FILE", "read " + std::string(what_of_file) + "; - is standard input", input.file);
  arguments.one_of("--input", "FORMAT", "the form of the file; jsonl has {\"text\": ...} a line", {"text", "jsonl"},
                   [&input](std::string_view name) { input.format = name; });
  declare(arguments, input.invalid_utf8);
}

void declare(Arguments& arguments, InvalidUtf8& invalid_utf8) {
  const bool refuses = invalid_utf8 == InvalidUtf8::refuse;
  arguments.one_of("--invalid-utf8", "ACTION",
                   std::string("at bytes that are not UTF-8; replace puts U+FFFD in their place; default: ") +
                       (refuses ? "error" : "replace"),
                   {"error", "replace"}, [&invalid_utf8](std::string_view name) {
                     invalid_utf8 = name == "error" ? InvalidUtf8::refuse : InvalidUtf8::replace;
                   });
}

TextSource::TextSource(TextInput input) : arguments_(std::move(input.arguments)), invalid_utf8_(input.invalid_utf8) {
  if (!input.format.empty() && input.format != "text" && input.format != "jsonl")
    throw make_error(ErrorCode::invalid_argument, "--input is one of text, jsonl");
  if (!arguments_.empty()) {
    if (!input.file.empty())
      throw make_error(ErrorCode::invalid_argument, "texts come as arguments or from --file, not both");
    is_json_ = input.format == "jsonl";
    warn_of_file_names(arguments_);
    return;
  }
  is_json_ = input.format.empty() ? input.file.ends_with(".jsonl") : input.format == "jsonl";
  const bool is_standard = input.file.empty() || input.file == "-";
  is_typed_ = is_standard && base::is_terminal(base::kStandardInput);
  if (is_typed_) base::log(base::LogLevel::warn, "reading texts from the terminal, one a line; Ctrl-D ends them");
  lines_ = std::make_unique<LineReader>(is_standard ? std::filesystem::path() : std::filesystem::path(input.file));
}

void TextSource::keep_members(std::span<const std::string_view> own) {
  keeps_members_ = true;
  own_members_ = own;
}

// Where the first line has the mark of UTF-16 but nothing else tells that it is, this does.
void TextSource::require_utf8(std::string_view line) const {
  if (tokenizers::is_ascii(line)) return;
  const std::size_t valid = formats::valid_utf8_prefix(line);
  if (valid == line.size()) return;
  if (formats::has_utf16_mark(line))
    throw make_error(ErrorCode::invalid_argument, place(), " begins like UTF-16, and texts are read as UTF-8; ",
                     formats::conversion_advice("UTF-16"));
  throw make_error(ErrorCode::invalid_argument, place(), " has bytes that are not UTF-8 (byte ", valid + 1,
                   " of the line); convert it, as with iconv -f LATIN1 -t UTF-8, or --invalid-utf8 replace puts U+FFFD "
                   "in their place");
}

void TextSource::rewind() {
  taken_ = 0;
  if (lines_) lines_->rewind();
}

std::optional<std::string> TextSource::next_line() {
  std::optional<std::string> text;
  if (lines_) {
    if (const auto line = lines_->next()) text = std::string(*line);
  } else if (taken_ < arguments_.size()) {
    text = arguments_[taken_++];
  }
  if (text && invalid_utf8_ == InvalidUtf8::refuse) refusing([&] { require_utf8(*text); });
  return text;
}

bool TextSource::skip_to(const InputPosition& position) {
  if (!lines_) return false;
  while (lines_->returned_bytes() < position.bytes && lines_->next()) continue;
  const InputPosition here = lines_->position();
  return here.bytes == position.bytes && here.lines == position.lines && here.digest == position.digest;
}

std::string TextSource::place() const { return lines_ ? lines_->place() : "text " + std::to_string(taken_); }

bool TextSource::may_wait(std::chrono::milliseconds patience) {
  if (!lines_) return false;
  while (lines_->has_line_within(patience)) {
    const auto line = lines_->peek();
    if (!is_json_ || !line || !is_blank(*line)) return false;
    (void)lines_->next();
  }
  return true;
}

std::optional<std::string> TextSource::next_json_line() {
  is_json_ = true;
  for (;;) {
    auto line = next_line();
    if (!line) return std::nullopt;
    if (is_blank(*line)) continue;
    if (auto repaired = tokenizers::repair_utf8(*line)) line = std::move(repaired);
    // Files joined into one keep the marks of each.
    if (const std::string_view text = formats::without_byte_order_mark(*line); text.size() < line->size())
      line = std::string(text);
    return line;
  }
}

formats::Json TextSource::parse(std::string_view line) const {
  try {
    return formats::parse_json(line, place(), kLineLimits);
  } catch (const Error& error) {
    // For the caller, a line that is not JSON is bad input, not a damaged file.
    if (error.code() != ErrorCode::corrupt) throw;
    throw Error(ErrorCode::invalid_argument, error.message());
  }
}

std::optional<formats::Json> TextSource::next_json() {
  const auto line = next_json_line();
  return line ? std::optional(parse(*line)) : std::nullopt;
}

std::string TextSource::other_members(const formats::Json& json, std::string_view line) {
  std::string kept;
  const formats::Json::Object& members = json.as_object(place());
  const std::vector<std::string_view> texts = formats::json_member_texts(line);
  for (std::size_t i = 0; i < members.size(); ++i) {
    const std::string_view name = members[i].first;
    if (name == "text" || name == "pair") continue;
    const auto own = std::ranges::find(own_members_, name);
    if (own == own_members_.end()) {
      kept += (kept.empty() ? "" : ",") + std::string(texts.at(i));
    } else if (std::ranges::find(warned_of_, *own) == warned_of_.end()) {
      base::log(base::LogLevel::warn, "a field of the input is left out: the output has one of that name",
                {{"field", std::string(*own)}, {"first", place()}},
                "the input's field " + std::string(*own) +
                    " is left out, since the output has one of that name (first: " + place() + ")");
      warned_of_.push_back(*own);
    }
  }
  return kept;
}

std::optional<InputText> TextSource::next() {
  if (!is_json_) {
    auto line = next_line();
    return line ? std::optional(InputText{std::move(*line), {}}) : std::nullopt;
  }
  const auto line = next_json_line();
  if (!line) return std::nullopt;
  return refusing([&] {
    const formats::Json json = parse(*line);
    InputText input{string_member(json, "text", place()), {}};
    if (const auto* pair = json.find("pair"); pair != nullptr && !pair->is_null())
      input.pair = string_member(json, "pair", place());
    if (keeps_members_) input.members = other_members(json, *line);
    return input;
  });
}

}  // namespace alate::app
