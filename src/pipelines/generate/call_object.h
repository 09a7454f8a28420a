// Reads a call that is written as a JSON object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "pipelines/generate/answer_syntax.h"
#include "pipelines/generate/call_sink.h"
#include "pipelines/generate/json_value_scan.h"

namespace alate::pipelines {

/// {"name": …, "arguments": {…}}: further members are skipped, and the members may stand in an object `function`, as in
/// OpenAI's calls. The arguments are given out as they are written, once the name is known.
class CallObject {
 public:
  enum class Step : std::uint8_t {
    more,
    last,      // the byte was the object's last
    broken,    // the byte does not belong to the object, of which the name is known
    not_call,  // this is no call; the byte is used up
  };

  /// With `is_strict` only tools of the syntax are called, and only members of calls may come.
  CallObject(const AnswerSyntax& syntax, bool is_strict) : syntax_(syntax), is_strict_(is_strict) {}

  /// The first byte is "{".
  Step add(char byte, CallSink& sink);
  bool is_named() const { return is_named_; }

 private:
  enum class Place : std::uint8_t { begin, key_or_end, key, colon, value, after_value };
  enum class Member : std::uint8_t { other, name, arguments, function };

  Step step(char byte, CallSink& sink);
  Step end_key();
  Step begin_value(char byte, CallSink& sink);
  Step in_value(char byte, CallSink& sink);
  Step end_value(CallSink& sink);
  Step end_object(CallSink& sink);
  Step unexpected(CallSink& sink);

  const AnswerSyntax& syntax_;
  const bool is_strict_;
  Place place_ = Place::begin;
  Member member_ = Member::other;
  JsonValueScan scan_;
  std::string kept_;       // of a key, a name, or arguments that are written as text
  std::string arguments_;  // those that come before the name
  bool is_named_ = false, has_arguments_ = false;
  bool is_text_ = false;  // the arguments are JSON text in a string
  std::size_t nested_ = 0;
};

}  // namespace alate::pipelines
