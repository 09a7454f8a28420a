#include "server/api/tool_arguments.h"

#include "alate/error.h"

namespace alate::server {

using formats::Json;

Json parse_tool_arguments(std::string_view text) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return Json::Object{};
  try {
    Json value = formats::parse_json(text, "arguments");
    return value.is_object() ? value : Json();
  } catch (const Error&) {
    return {};
  }
}

}  // namespace alate::server
