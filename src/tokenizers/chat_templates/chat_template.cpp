#include "alate/chat_template.h"

#include <algorithm>
#include <utility>

#include "alate/error.h"
#include "formats/json.h"
#include "tokenizers/chat_templates/conversation.h"
#include "tokenizers/chat_templates/evaluation/evaluator.h"
#include "tokenizers/chat_templates/sources/template_files.h"

namespace alate {
namespace {

using formats::Json;
namespace chat = tokenizers::chat_templates;

constexpr formats::JsonLimits kLimits{.max_depth = 256, .max_bytes = std::size_t{64} << 20, .max_values = 4 << 20};

Json parse(std::string_view text, std::string_view what) { return formats::parse_json(text, what, kLimits); }

// What a request asks for, as JSON.
struct Request {
  Json messages;
  Json tools, documents;  // null: none
  Json::Object variables;
  bool add_generation_prompt = false;
  std::optional<std::string> continued_field;
  std::optional<std::string> chat_template;
  std::size_t bytes = 0;  // of its text
};

void check_list_of_objects(const Json& list, std::string_view what) {
  if (list.is_null()) return;
  for (const Json& item : list.as_array(what)) {
    if (!item.is_object()) {
      throw make_error(ErrorCode::invalid_argument, what, " must be a list of objects, but one is ", item.kind());
    }
  }
}

const std::string* find_template(const chat::Templates& templates, std::string_view name) {
  const auto found = templates.texts.find(name);
  return found == templates.texts.end() ? nullptr : &found->second.text;
}

}  // namespace

struct ChatTemplate::Parts {
  chat::Templates templates;
  SpecialTokens special_tokens;
  std::string what;
};

namespace {

RenderedChat run(const chat::Template& chosen, const ChatTemplate::SpecialTokens& special_tokens, std::string_view what,
                 Request request) {
  check_list_of_objects(request.tools, "tools");
  check_list_of_objects(request.documents, "documents");
  Json messages = chat::prepared_messages(request.messages);
  std::optional<chat::Continuation> continuation;
  if (request.continued_field) {
    if (request.add_generation_prompt) {
      throw Error(
          ErrorCode::invalid_argument,
          "continue_final_message and add_generation_prompt exclude each other: one continues the last message, "
          "the other begins a new one");
    }
    continuation.emplace(messages, *request.continued_field, chosen.text);
  }
  chat::Variables variables;
  for (const auto& [name, token] : special_tokens) variables.insert_or_assign(name, chat::constant_text(token));
  for (const auto& [name, value] : request.variables) variables.insert_or_assign(name, chat::from_json(value));
  variables.insert_or_assign("messages", chat::from_json(messages));
  variables.insert_or_assign("tools", chat::from_json(request.tools));
  variables.insert_or_assign("documents", chat::from_json(request.documents));
  variables.insert_or_assign("add_generation_prompt", chat::Value::boolean(request.add_generation_prompt));

  // What a template may do grows with the conversation, and with its own text as far as those of models are long.
  constexpr std::size_t kUsualTemplate = std::size_t{64} << 10;
  chat::Budget budget(request.bytes + std::min(chosen.text.size(), kUsualTemplate));
  chat::Evaluator evaluator(chosen.syntax, what, budget, std::move(variables), chat::Rendering::Clock::now());
  RenderedChat result;
  result.text = evaluator.render();
  for (const chat::GeneratedPart& part : evaluator.generated()) {
    result.generated.emplace_back(std::min(part.begin, result.text.size()), std::min(part.end, result.text.size()));
  }
  if (continuation) {
    result.text = continuation->cut(std::move(result.text));
    result.generated.clear();
  }
  return result;
}

RenderedChat render(const ChatTemplate::Parts& parts, Request request) {
  std::string_view name = "default";
  if (request.chat_template) {
    name = *request.chat_template;
  } else if (!request.tools.is_null() && find_template(parts.templates, "tool_use") != nullptr) {
    name = "tool_use";
  }
  if (const auto found = parts.templates.texts.find(name); found != parts.templates.texts.end()) {
    return run(found->second, parts.special_tokens, parts.what, std::move(request));
  }
  if (!request.chat_template) {
    std::string names;
    for (const auto& [each, text] : parts.templates.texts) names += (names.empty() ? "" : ", ") + each;
    throw make_error(ErrorCode::invalid_argument, parts.what,
                     ": there are several chat templates and none is the default; name one of ", names);
  }
  const chat::Template given = chat::make_template(*request.chat_template, "chat template of the request");
  return run(given, parts.special_tokens, "chat template of the request", std::move(request));
}

Request request_of(Json messages, std::size_t bytes, const ChatOptions& options) {
  Request request;
  request.messages = std::move(messages);
  request.bytes = bytes + options.tools.size() + options.documents.size() + options.variables.size();
  if (!options.tools.empty()) request.tools = parse(options.tools, "tools");
  if (!options.documents.empty()) request.documents = parse(options.documents, "documents");
  if (!options.variables.empty()) request.variables = parse(options.variables, "variables").as_object("variables");
  request.add_generation_prompt = options.add_generation_prompt;
  if (options.continue_final_message) request.continued_field = std::string(*options.continue_final_message);
  if (options.chat_template) request.chat_template = std::string(*options.chat_template);
  return request;
}

}  // namespace

ChatTemplate::ChatTemplate(std::string_view text, SpecialTokens special_tokens, std::string_view what)
    : ChatTemplate(std::map<std::string, std::string>{{"default", std::string(text)}}, std::move(special_tokens),
                   what) {}

ChatTemplate::ChatTemplate(const std::map<std::string, std::string>& texts, SpecialTokens special_tokens,
                           std::string_view what) {
  auto parts = std::make_shared<Parts>();
  for (const auto& [name, text] : texts) {
    parts->templates.texts.emplace(name, chat::make_template(text, what));
  }
  parts->special_tokens = std::move(special_tokens);
  parts->what = what;
  parts_ = std::move(parts);
}

ChatTemplate ChatTemplate::load(const std::filesystem::path& folder_or_file) {
  chat::TemplateFiles files = chat::read_template_files(folder_or_file);
  return ChatTemplate(files.texts, std::move(files.special_tokens), files.what);
}

RenderedChat ChatTemplate::render(std::span<const ChatMessage> messages, const ChatOptions& options) const {
  Json::Array all;
  std::size_t bytes = 0;
  for (const ChatMessage& message : messages) {
    all.push_back(
        Json::Object{{"role", chat::valid_text(message.role)}, {"content", chat::valid_text(message.content)}});
    bytes += 32 + message.role.size() + message.content.size();
  }
  return alate::render(*parts_, request_of(Json(std::move(all)), bytes, options));
}

RenderedChat ChatTemplate::render(std::string_view messages, const ChatOptions& options) const {
  return alate::render(*parts_, request_of(parse(messages, "messages"), messages.size(), options));
}

RenderedChat ChatTemplate::render_request(std::string_view text) const {
  const Json json = parse(text, "request");
  Request request;
  request.bytes = text.size();
  for (const auto& [name, value] : json.as_object("request")) {
    if (name == "messages" || name == "conversation") {
      request.messages = value;
    } else if (name == "tools") {
      request.tools = value;
    } else if (name == "documents") {
      request.documents = value;
    } else if (name == "add_generation_prompt") {
      request.add_generation_prompt = !value.is_null() && value.as_bool(name);
    } else if (name == "continue_final_message") {
      if (value.is_string()) {
        if (!value.as_string(name).empty()) request.continued_field = value.as_string(name);
      } else if (!value.is_null() && value.as_bool(name)) {
        request.continued_field = "content";
      }
    } else if (name == "chat_template") {
      if (!value.is_null()) request.chat_template = value.as_string(name);
    } else if (name == "chat_template_kwargs") {
      if (value.is_null()) continue;
      for (const auto& member : value.as_object(name)) request.variables.push_back(member);
    } else {
      request.variables.emplace_back(name, value);
    }
  }
  return alate::render(*parts_, std::move(request));
}

bool ChatTemplate::has(std::string_view name) const { return find_template(parts_->templates, name) != nullptr; }

const ChatTemplate::SpecialTokens& ChatTemplate::special_tokens() const { return parts_->special_tokens; }

}  // namespace alate
