#include "pipelines/generate/call_reader.h"

#include <algorithm>
#include <utility>

namespace alate::pipelines {
namespace {

constexpr std::size_t kMostNameTail = 128;

}  // namespace

CallReader::CallReader(const AnswerSyntax& syntax, std::string_view marker)
    : syntax_(syntax), format_(*syntax.calls()), marker_(marker), held_(marker) {
  if (marker.empty() || marker == format_.open) enter_call();
}

void CallReader::enter_call() {
  name_.clear();
  place_ = format_.body == CallFormat::Body::objects ? Place::objects : Place::name;
}

CallReader::Step CallReader::add(char byte, CallSink& sink) {
  if (is_holding()) held_ += byte;
  switch (place_) {
    case Place::section:
      if (byte == '{' && expected_.is_idle()) return add_object_instead(byte, sink);
      switch (expected_.add(byte, {format_.open})) {
        case ExpectedMarker::Step::more: return Step::more;
        case ExpectedMarker::Step::found: enter_call(); return Step::more;
        case ExpectedMarker::Step::other: return no_call(expected_.take_unread());
      }
      return Step::more;
    case Place::name: return add_to_name(byte, sink);
    case Place::arguments: {
      if (!scan_.is_begun() && is_blank(byte)) return Step::more;
      const bool was_begun = scan_.is_begun();
      switch (scan_.add(byte)) {
        case JsonValueScan::Step::inside: sink.arguments({&byte, 1}); return Step::more;
        case JsonValueScan::Step::last: sink.arguments({&byte, 1}); return close_call();
        case JsonValueScan::Step::beyond: break;
      }
      if (!was_begun) sink.arguments("{}");
      if (const Step step = close_call(); step != Step::more) return end(std::string(1, byte));
      return add_again({&byte, 1}, sink);
    }
    case Place::objects: return add_to_objects(byte, sink);
    case Place::object:
      switch (object_->add(byte, sink)) {
        case CallObject::Step::more:
          if (object_->is_named()) held_.clear();
          return Step::more;
        case CallObject::Step::last:
          ++calls_;
          held_.clear();
          place_ = Place::objects;
          // Without a closing marker nothing is left to wait for, unless further objects may follow.
          return format_.close.empty() && !is_list_ && !format_.is_bare ? end({}) : Step::more;
        case CallObject::Step::not_call: return no_call({});
        case CallObject::Step::broken:
          ++calls_;
          if (const Step step = close_call(); step != Step::more) return end(std::string(1, byte));
          return add_again({&byte, 1}, sink);
      }
      return Step::more;
    case Place::parameters:
      switch (parameters_->add(byte, sink)) {
        case CallParameters::Step::more: return Step::more;
        case CallParameters::Step::closed: return after_close();
        case CallParameters::Step::section: return end({});
        case CallParameters::Step::other:
          if (const Step step = after_close(); step != Step::more) return end(parameters_->take_unread());
          return add_again(parameters_->take_unread(), sink);
      }
      return Step::more;
    case Place::close:
      switch (expected_.add(byte, {format_.close})) {
        case ExpectedMarker::Step::more: return Step::more;
        case ExpectedMarker::Step::found: return after_close();
        case ExpectedMarker::Step::other: {
          const std::string unread = expected_.take_unread();
          if (const Step step = after_close(); step != Step::more) return end(unread);
          return add_again(unread, sink);
        }
      }
      return Step::more;
    case Place::after_call:
      switch (expected_.add(byte, {format_.open, format_.section_end})) {
        case ExpectedMarker::Step::more: return Step::more;
        case ExpectedMarker::Step::other: return end(expected_.take_unread());
        case ExpectedMarker::Step::found: break;
      }
      if (expected_.which() == format_.section_end) return end({});
      held_ = format_.open;
      enter_call();
      return Step::more;
  }
  return Step::more;
}

// Models of other formats write objects all the same, now and then.
CallReader::Step CallReader::add_object_instead(char byte, CallSink& sink) {
  place_ = Place::objects;
  return add_to_objects(byte, sink);
}

CallReader::Step CallReader::add_to_name(char byte, CallSink& sink) {
  if (name_.empty() && (byte == '{' || byte == '[')) return add_object_instead(byte, sink);
  if (format_.name_end.empty() && (is_blank(byte) || byte == '<')) {
    if (is_blank(byte) && name_.empty()) return Step::more;
    const Step step = end_name(name_, sink);
    if (step == Step::text) {
      held_.pop_back();
      unread_ = byte;
      return step;
    }
    return add_again({&byte, 1}, sink);
  }
  name_ += byte;
  if (!format_.name_end.empty() && name_.ends_with(format_.name_end)) {
    std::string_view name = std::string_view(name_).substr(0, name_.size() - format_.name_end.size());
    if (!format_.name_tail.empty()) name = name.substr(0, name.find(format_.name_tail));
    return end_name(without_blanks(name), sink);
  }
  const std::size_t most = kMostToolName + kMostNameTail + format_.name_end.size();
  return name_.size() > most ? no_call({}) : Step::more;
}

CallReader::Step CallReader::end_name(std::string_view name, CallSink& sink) {
  if (!is_tool_name(name)) return no_call({});
  sink.name(name);
  ++calls_;
  held_.clear();
  if (format_.body == CallFormat::Body::json) {
    scan_ = {};
    place_ = Place::arguments;
  } else {
    parameters_.emplace(syntax_, std::string(name));
    place_ = Place::parameters;
  }
  return Step::more;
}

CallReader::Step CallReader::add_to_objects(char byte, CallSink& sink) {
  if (is_blank(byte)) return Step::more;
  if (byte == '{') {
    object_.emplace(syntax_, marker_.empty());
    place_ = Place::object;
    (void)object_->add(byte, sink);
    return Step::more;
  }
  if (byte == '[' && !is_list_ && calls_ == 0) {
    is_list_ = true;
    return Step::more;
  }
  if (calls_ == 0) return no_call(std::string(1, byte));
  if (byte == ',' || (byte == ';' && format_.is_bare)) return Step::more;
  const bool ends_list = is_list_ && byte == ']';
  if (const Step step = close_call(); step != Step::more) return ends_list ? step : end(std::string(1, byte));
  return ends_list ? Step::more : add_again({&byte, 1}, sink);
}

CallReader::Step CallReader::close_call() {
  held_.clear();
  if (format_.close.empty()) return after_close();
  place_ = Place::close;
  return Step::more;
}

CallReader::Step CallReader::after_close() {
  held_.clear();
  if (format_.section_end.empty()) return end({});
  place_ = Place::after_call;
  return Step::more;
}

CallReader::Step CallReader::add_again(std::string_view bytes, CallSink& sink) {
  if (!held_.empty()) held_.resize(held_.size() - std::min(held_.size(), bytes.size()));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const Step step = add(bytes[i], sink);
    if (step == Step::more) continue;
    unread_ += bytes.substr(i + 1);
    return step;
  }
  return Step::more;
}

CallReader::Step CallReader::no_call(std::string unread) {
  held_.resize(held_.size() - std::min(held_.size(), unread.size()));
  unread_ = std::move(unread);
  return Step::text;
}

CallReader::Step CallReader::end(std::string unread) {
  held_.clear();
  unread_ = std::move(unread);
  return Step::done;
}

bool CallReader::is_holding() const {
  switch (place_) {
    case Place::section:
    case Place::name: return true;
    case Place::objects: return calls_ == 0;
    case Place::object: return !object_->is_named();
    default: return false;
  }
}

std::string CallReader::take_held() {
  std::string text = std::move(held_);
  for (const std::string_view marker : {format_.section, format_.open}) {
    if (!marker.empty() && text.starts_with(marker) && syntax_.is_hidden(marker)) text.erase(0, marker.size());
  }
  return text;
}

}  // namespace alate::pipelines
