// How the families of models write calls of tools.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "formats/json.h"

namespace alate::pipelines {

/// The texts around the parts of a call. Blanks may stand between parts.
struct CallFormat {
  enum class Body : std::uint8_t {
    objects,     // open {"name": NAME, "arguments": {…}} close; a list of such objects too
    json,        // open NAME name_end {…} close
    parameters,  // open NAME name_end, then for each argument key_open KEY key_end value_open VALUE value_end, close
  };

  std::string_view name;  // of the format
  Body body = Body::objects;
  std::string_view open;
  std::string_view close = {};
  std::string_view section = {}, section_end = {};  // around all calls, or around each
  std::string_view name_end = {};                   // empty: a name ends before a blank and before "<"
  std::string_view name_tail = {};                  // begins what may stand between the name and name_end: an id
  std::string_view key_open = {}, key_end = {}, value_open = {}, value_end = {};
  std::string_view name_key = "name", arguments_key = "arguments";
  bool section_of_each = false;     // each call has a section of its own
  bool numbers_calls = false;       // name_tail is followed by the number of the call
  bool is_list = false;             // the model is used to writing its objects in a list
  bool is_bare = false;             // an object at the beginning of an answer is a call without its `open`
  std::string_view hint = {};       // shows in a prompt with tools that the model knows this format; empty: `open`
  std::string_view end_token = {};  // a special token with which such models end calls, besides their end tokens
};

/// In the order in which they are looked for.
std::span<const CallFormat> call_formats();
/// The format that models without one are told to use.
const CallFormat& general_call_format();

/// Whether `turn`, in which a template has written a call of `tool`, is of this format.
bool writes_calls_in(const CallFormat& format, std::string_view turn, std::string_view tool);
/// The format in which a template has written a call; null if it is none of them.
const CallFormat* call_format_of_turn(std::string_view turn, std::string_view tool);
/// The format that a prompt speaks of where it lists tools; null if it is none of them.
const CallFormat* call_format_of_prompt(std::string_view with_tools, std::string_view without_tools);

/// Calls as a model writes them, in a format of objects.
struct WrittenCall {
  std::string_view name;
  const formats::Json& arguments;
};
std::string written_calls(const CallFormat& format, std::span<const WrittenCall> calls);

}  // namespace alate::pipelines
