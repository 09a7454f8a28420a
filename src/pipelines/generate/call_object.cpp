#include "pipelines/generate/call_object.h"

#include <algorithm>
#include <optional>

#include "alate/error.h"
#include "formats/json.h"
#include "pipelines/generate/marker_search.h"

namespace alate::pipelines {
namespace {

constexpr std::size_t kMostMemberName = 64;
constexpr std::size_t kMostQuotedName = 6 * kMostToolName + 2;  // with an escape for each letter
// Members of calls besides the name, the arguments and `function`.
constexpr std::string_view kFurtherMembers[] = {"type", "id", "index", "tool_call_id"};

std::optional<std::string> unquoted(std::string_view quoted) {
  try {
    return formats::parse_json(quoted, "text").as_string("text");
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

bool is_tool_name(std::string_view name) {
  return !name.empty() && name.size() <= kMostToolName && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  });
}

CallObject::Step CallObject::add(char byte, CallSink& sink) {
  const Step result = step(byte, sink);
  return result == Step::not_call && is_named_ ? Step::broken : result;
}

CallObject::Step CallObject::step(char byte, CallSink& sink) {
  switch (place_) {
    case Place::begin: place_ = Place::key_or_end; return Step::more;
    case Place::key_or_end:
      if (is_blank(byte) || byte == ',') return Step::more;
      if (byte == '}') return end_object(sink);
      if (byte != '"') return unexpected(sink);
      scan_ = {};
      scan_.add(byte);
      kept_ = byte;
      place_ = Place::key;
      return Step::more;
    case Place::key:
      if (kept_.size() <= kMostMemberName) kept_ += byte;
      return scan_.add(byte) == JsonValueScan::Step::last ? end_key() : Step::more;
    case Place::colon:
      if (is_blank(byte)) return Step::more;
      if (byte != ':') return unexpected(sink);
      scan_ = {};
      kept_.clear();
      place_ = Place::value;
      return Step::more;
    case Place::value: return scan_.is_begun() ? in_value(byte, sink) : begin_value(byte, sink);
    case Place::after_value:
      if (is_blank(byte)) return Step::more;
      if (byte == '}') return end_object(sink);
      if (byte != ',') return unexpected(sink);
      place_ = Place::key_or_end;
      return Step::more;
  }
  return Step::more;
}

CallObject::Step CallObject::end_key() {
  const std::string_view key = std::string_view(kept_).substr(1, kept_.size() - 2);
  const CallFormat& format = *syntax_.calls();
  if (key == format.name_key || key == "name") {
    member_ = is_named_ ? Member::other : Member::name;
  } else if (key == "arguments" || key == "parameters") {
    member_ = has_arguments_ ? Member::other : Member::arguments;
  } else if (key == "function") {
    member_ = is_named_ ? Member::other : Member::function;
  } else {
    member_ = Member::other;
    if (is_strict_ && std::ranges::find(kFurtherMembers, key) == std::end(kFurtherMembers)) return Step::not_call;
  }
  place_ = Place::colon;
  return Step::more;
}

CallObject::Step CallObject::begin_value(char byte, CallSink& sink) {
  if (is_blank(byte)) return Step::more;
  if (member_ == Member::function) {
    if (byte == '{') {
      ++nested_;
      place_ = Place::key_or_end;
      return Step::more;
    }
    member_ = Member::name;  // {"type": "function", "function": NAME, …}
  }
  if (member_ == Member::name && byte != '"') return unexpected(sink);
  if (member_ == Member::arguments) {
    has_arguments_ = true;
    is_text_ = byte == '"';
    if (byte != '"' && byte != '{') {  // null and other nonsense
      member_ = Member::other;
      if (is_named_) sink.arguments("{}");
      if (!is_named_) arguments_ = "{}";
    }
  }
  return in_value(byte, sink);
}

CallObject::Step CallObject::in_value(char byte, CallSink& sink) {
  const JsonValueScan::Step scanned = scan_.add(byte);
  if (scanned == JsonValueScan::Step::beyond) {
    if (!scan_.is_begun()) return unexpected(sink);
    place_ = Place::after_value;
    return step(byte, sink);
  }
  if (member_ == Member::name) {
    kept_ += byte;
    if (kept_.size() > kMostQuotedName) return Step::not_call;
  } else if (member_ == Member::arguments) {
    if (is_text_) {
      kept_ += byte;
    } else if (is_named_) {
      sink.arguments({&byte, 1});
    } else {
      arguments_ += byte;
    }
  }
  return scanned == JsonValueScan::Step::last ? end_value(sink) : Step::more;
}

CallObject::Step CallObject::end_value(CallSink& sink) {
  place_ = Place::after_value;
  if (member_ == Member::arguments && is_text_) {
    std::string text = unquoted(kept_).value_or(kept_);
    if (text.empty()) text = "{}";
    if (is_named_) {
      sink.arguments(text);
    } else {
      arguments_ = std::move(text);
    }
  }
  if (member_ != Member::name) return Step::more;
  const std::optional<std::string> name = unquoted(kept_);
  if (!name || !is_tool_name(*name) || (is_strict_ && !syntax_.knows(*name))) return Step::not_call;
  is_named_ = true;
  sink.name(*name);
  if (!arguments_.empty()) sink.arguments(arguments_);
  arguments_.clear();
  return Step::more;
}

CallObject::Step CallObject::end_object(CallSink& sink) {
  if (nested_ > 0) {
    --nested_;
    place_ = Place::after_value;
    return Step::more;
  }
  if (!is_named_) return Step::not_call;
  if (!has_arguments_) sink.arguments("{}");
  return Step::last;
}

CallObject::Step CallObject::unexpected(CallSink& sink) {
  if (!is_named_) return Step::not_call;
  if (!has_arguments_) sink.arguments("{}");
  return Step::broken;
}

}  // namespace alate::pipelines
