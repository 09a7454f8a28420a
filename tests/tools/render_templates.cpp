// Renders chat templates for the scripts in tests/golden/chat_templates. Reads pairs of lines: {"template",
// "special_tokens"}, then a request as of `alate tokenize --template`; writes {"text", "generated"} or {"error",
// "code"}.
#include <iostream>
#include <string>

#include "alate/chat_template.h"
#include "alate/error.h"
#include "formats/json.h"

namespace {

using alate::formats::Json;

Json rendered(const std::string& head, const std::string& request) {
  const Json json = alate::formats::parse_json(head, "the line of a template");
  alate::ChatTemplate::SpecialTokens tokens;
  if (const Json* given = json.find("special_tokens")) {
    for (const auto& [name, value] : given->as_object("special_tokens")) tokens[name] = value.as_string(name);
  }
  const alate::ChatTemplate chat(json.get_string("template", ""), tokens);
  const alate::RenderedChat result = chat.render_request(request);
  Json::Array spans;
  for (const auto& [begin, end] : result.generated) {
    spans.push_back(Json::Array{Json(std::uint64_t{begin}), Json(std::uint64_t{end})});
  }
  return Json::Object{{"text", result.text}, {"generated", std::move(spans)}};
}

}  // namespace

int main() {
  std::string head, request;
  while (std::getline(std::cin, head) && std::getline(std::cin, request)) {
    Json answer;
    try {
      answer = rendered(head, request);
    } catch (const alate::Error& error) {
      answer = Json::Object{{"error", error.message()}, {"code", std::string(alate::to_string(error.code()))}};
    }
    std::cout << alate::formats::to_json_text(answer) << '\n';
  }
}
