// Reads calls of tools in an answer, from the marker with which they begin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "pipelines/generate/answer_syntax.h"
#include "pipelines/generate/call_object.h"
#include "pipelines/generate/call_parameters.h"
#include "pipelines/generate/call_sink.h"
#include "pipelines/generate/json_value_scan.h"
#include "pipelines/generate/marker_search.h"

namespace alate::pipelines {

/// Takes time in proportion to the bytes; holds them until a call's name is whole.
class CallReader {
 public:
  enum class Step : std::uint8_t {
    more,
    done,  // the calls have ended before the bytes of `take_unread`
    text,  // `take_held` is text, and what follows are the bytes of `take_unread`
  };

  /// `marker` has been read: the format's `open` or `section`; empty where calls need none, and "{" comes.
  CallReader(const AnswerSyntax& syntax, std::string_view marker);

  Step add(char byte, CallSink& sink);
  std::string take_unread() { return std::move(unread_); }
  /// What has been read since the last call, without markers that are never shown.
  std::string take_held();

 private:
  enum class Place : std::uint8_t {
    section,  // an `open` must come
    name,
    arguments,  // a JSON value
    objects,    // an object, or a list of them
    object,
    parameters,
    close,
    after_call,  // another call, or the section's end
  };

  /// Whether what comes may still turn out to be text.
  bool is_holding() const;
  void enter_call();
  Step add_object_instead(char byte, CallSink& sink);
  Step add_to_name(char byte, CallSink& sink);
  Step end_name(std::string_view name, CallSink& sink);
  Step add_to_objects(char byte, CallSink& sink);
  /// The call is complete but for its closing marker.
  Step close_call();
  Step after_close();
  Step add_again(std::string_view bytes, CallSink& sink);
  Step no_call(std::string unread);
  Step end(std::string unread);

  const AnswerSyntax& syntax_;
  const CallFormat& format_;
  const std::string_view marker_;
  Place place_ = Place::section;
  ExpectedMarker expected_;
  JsonValueScan scan_;
  std::optional<CallObject> object_;
  std::optional<CallParameters> parameters_;
  std::string name_, held_, unread_;
  std::size_t calls_ = 0;  // since the marker
  bool is_list_ = false;
};

}  // namespace alate::pipelines
