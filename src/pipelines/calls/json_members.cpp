#include "pipelines/calls/json_members.h"

#include "formats/json.h"

namespace alate::pipelines {
namespace {

void begin_member(std::string& out, std::string_view name) {
  if (!out.ends_with('{')) out += ',';
  out += '"';
  out += name;
  out += "\":";
}

}  // namespace

void append_member(std::string& out, std::string_view name, std::string_view text) {
  begin_member(out, name);
  formats::append_json_string(out, text);
}

void append_member(std::string& out, std::string_view name, std::size_t number) {
  begin_member(out, name);
  out += std::to_string(number);
}

void append_member(std::string& out, std::string_view name, float number) {
  begin_member(out, name);
  formats::append_json_number(out, number);
}

void begin_object(std::string& list) { list += list.ends_with('[') ? "{" : ",{"; }

}  // namespace alate::pipelines
