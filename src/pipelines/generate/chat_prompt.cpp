#include "pipelines/generate/chat_prompt.h"

#include <utility>
#include <vector>

#include "alate/error.h"
#include "pipelines/generate/chat_messages.h"
#include "pipelines/generate/chat_tools.h"
#include "pipelines/generate/prompt_variables.h"

namespace alate::pipelines {
namespace {

using formats::Json;

void check_continued(const std::vector<CheckedMessage>& messages) {
  const CheckedMessage& last = messages.back();
  if (last.role == "assistant" && last.calls.empty() && !last.content.empty()) return;
  throw make_error(ErrorCode::invalid_argument, "messages[", messages.size() - 1,
                   "] is to be continued: only a text of the assistant, without calls of tools, can be");
}

}  // namespace

std::string chat_prompt(const ChatDialect& dialect, const ChatRequest& request, const Json::Array& tools) {
  const TemplateTraits& traits = dialect.traits;
  std::vector<CheckedMessage> messages = checked_messages(request.messages);
  if (request.continues_last) check_continued(messages);
  Json::Object variables = prompt_variables(request, dialect.chat_template);
  std::string tools_text, tools_json;
  Json system_tools;
  if (!tools.empty()) {
    switch (traits.tools_by) {
      case TemplateTraits::ToolsBy::none: tools_text = tools_as_text(tools, request.tool_choice); break;
      case TemplateTraits::ToolsBy::variable: tools_json = formats::to_json_text(tools); break;
      case TemplateTraits::ToolsBy::xml_variable: variables.emplace_back("xml_tools", tools); break;
      case TemplateTraits::ToolsBy::system_message: system_tools = tools; break;
    }
  }
  const std::string text =
      formats::to_json_text(template_messages(std::move(messages), traits, std::move(tools_text), system_tools));
  const std::string variables_text = formats::to_json_text(variables);
  ChatOptions options{
      .tools = tools_json, .variables = variables_text, .add_generation_prompt = !request.continues_last};
  if (request.continues_last) options.continue_final_message = "content";
  return dialect.chat_template.render(text, options).text;
}

}  // namespace alate::pipelines
