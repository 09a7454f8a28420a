// Reads the arguments of a call of which each stands between tags, and writes them as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "pipelines/generate/answer_syntax.h"
#include "pipelines/generate/call_sink.h"
#include "pipelines/generate/marker_search.h"

namespace alate::pipelines {

/// Values of parameters that are strings by the tool's schema are given out as they come; others are JSON where they
/// can be read as that, and strings where not.
class CallParameters {
 public:
  enum class Step : std::uint8_t {
    more,
    closed,   // the call's closing tag
    section,  // the closing tag of the section, without that of the call
    other,    // what follows is no part of the call: `take_unread`
  };

  CallParameters(const AnswerSyntax& syntax, std::string tool) : syntax_(syntax), tool_(std::move(tool)) {}

  Step add(char byte, CallSink& sink);
  std::string take_unread() { return expected_.take_unread(); }

 private:
  enum class Place : std::uint8_t { key_or_close, key, value_open, value };

  void begin_value(CallSink& sink);
  void add_value(std::string_view passed, CallSink& sink);
  void end_value(CallSink& sink);
  Step end(Step how, CallSink& sink);

  const AnswerSyntax& syntax_;
  const std::string tool_;
  Place place_ = Place::key_or_close;
  ExpectedMarker expected_;
  MarkerSearch end_of_value_;
  std::string key_, value_;
  bool is_first_ = true, is_text_ = false;
  bool is_begun_ = false;       // the value has a byte besides the line's end before it
  bool holds_newline_ = false;  // the last byte of a text, perhaps the line's end after it
};

}  // namespace alate::pipelines
