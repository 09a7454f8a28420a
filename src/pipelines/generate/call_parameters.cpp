#include "pipelines/generate/call_parameters.h"

#include "alate/error.h"
#include "formats/json.h"

namespace alate::pipelines {
namespace {

constexpr std::size_t kMostParameterName = 256;

// The JSON text of a value that need not be a string.
std::string json_of(std::string_view text) {
  const std::string_view value = without_blanks(text);
  // As Python prints them.
  if (value == "True") return "true";
  if (value == "False") return "false";
  if (value == "None") return "null";
  try {
    (void)formats::parse_json(value, "value");
    return std::string(value);
  } catch (const Error&) {
    std::string quoted;
    formats::append_json_string(quoted, text);
    return quoted;
  }
}

}  // namespace

CallParameters::Step CallParameters::add(char byte, CallSink& sink) {
  const CallFormat& format = *syntax_.calls();
  switch (place_) {
    case Place::key_or_close:
      switch (expected_.add(byte, {format.key_open, format.close, format.section_end})) {
        case ExpectedMarker::Step::more: return Step::more;
        case ExpectedMarker::Step::other: return end(Step::other, sink);
        case ExpectedMarker::Step::found: break;
      }
      if (expected_.which() == format.close) return end(Step::closed, sink);
      if (expected_.which() == format.section_end) return end(Step::section, sink);
      key_.clear();
      place_ = Place::key;
      return Step::more;
    case Place::key:
      key_ += byte;
      if (key_.ends_with(format.key_end)) {
        key_.resize(key_.size() - format.key_end.size());
        if (format.value_open.empty()) {
          begin_value(sink);
        } else {
          place_ = Place::value_open;
        }
      } else if (key_.size() > kMostParameterName + format.key_end.size()) {
        return end(Step::other, sink);
      }
      return Step::more;
    case Place::value_open:
      switch (expected_.add(byte, {format.value_open})) {
        case ExpectedMarker::Step::more: return Step::more;
        case ExpectedMarker::Step::other: return end(Step::other, sink);
        case ExpectedMarker::Step::found: begin_value(sink); return Step::more;
      }
      return Step::more;
    case Place::value: {
      std::string passed;
      const bool is_end = end_of_value_.add(byte, passed).has_value();
      add_value(passed, sink);
      if (is_end) end_value(sink);
      return Step::more;
    }
  }
  return Step::more;
}

void CallParameters::begin_value(CallSink& sink) {
  const std::string_view key = without_blanks(key_);
  is_text_ = syntax_.is_text(tool_, key);
  std::string text = is_first_ ? "{" : ", ";
  formats::append_json_string(text, key);
  text += is_text_ ? ": \"" : ": ";
  sink.arguments(text);
  is_first_ = false;
  is_begun_ = holds_newline_ = false;
  value_.clear();
  end_of_value_ = MarkerSearch({syntax_.calls()->value_end});
  place_ = Place::value;
}

void CallParameters::add_value(std::string_view passed, CallSink& sink) {
  std::string quoted;
  for (const char byte : passed) {
    if (!is_begun_ && byte == '\n') {
      is_begun_ = true;
      continue;
    }
    is_begun_ = true;
    if (!is_text_) {
      value_ += byte;
      continue;
    }
    if (holds_newline_) quoted += "\\n";
    holds_newline_ = byte == '\n';
    if (holds_newline_) continue;
    std::string escaped;
    formats::append_json_string(escaped, {&byte, 1});
    quoted += std::string_view(escaped).substr(1, escaped.size() - 2);
  }
  if (!quoted.empty()) sink.arguments(quoted);
}

void CallParameters::end_value(CallSink& sink) {
  if (is_text_) {
    sink.arguments("\"");
  } else {
    if (value_.ends_with('\n')) value_.pop_back();
    sink.arguments(json_of(value_));
  }
  place_ = Place::key_or_close;
}

CallParameters::Step CallParameters::end(Step how, CallSink& sink) {
  sink.arguments(is_first_ ? "{}" : "}");
  return how;
}

}  // namespace alate::pipelines
