#include "pipelines/generate/answer_syntax.h"

#include <algorithm>

#include "tokenizers/parts.h"

namespace alate::pipelines {
namespace {

using formats::Json;

constexpr ReasoningTags kThink{.open = "<think>", .close = "</think>"};
// Granite 3 is asked for these by its prompt.
constexpr ReasoningTags kThinkAndRespond{.open = "<think>",
                                         .close = "</think>",
                                         .answer_open = "<response>",
                                         .answer_close = "</response>",
                                         .is_usual = true};
constexpr std::string_view kAsksForResponse = "<response></response>";
// Those that count where the tokenizer has them as tokens.
constexpr ReasoningTags kTokenTags[] = {
    {.open = "[THINK]", .close = "[/THINK]", .is_usual = true},
    {.open = "<|START_THINKING|>",
     .close = "<|END_THINKING|>",
     .answer_open = "<|START_RESPONSE|>",
     .answer_close = "<|END_RESPONSE|>",
     .is_usual = true},
};

bool is_text_schema(const Json& schema) {
  const Json* type = schema.find("type");
  if (type != nullptr) return type->is_string() && type->as_string("type") == "string";
  const Json* values = schema.find("enum");
  return values != nullptr && values->is_array() &&
         std::ranges::all_of(values->as_array("enum"), [](const Json& value) { return value.is_string(); });
}

}  // namespace

AnswerSyntax::AnswerSyntax(const Tokenizer& tokenizer, std::string_view prompt, const CallFormat* format,
                           const Json& tools, bool has_one_call)
    : format_(format), has_one_call_(has_one_call) {
  reasoning_.push_back(prompt.find(kAsksForResponse) == std::string_view::npos ? kThink : kThinkAndRespond);
  reasoning_.front().is_usual |= tokenizer.token_to_id(kThink.open).has_value();
  for (const ReasoningTags& tags : kTokenTags) {
    if (tokenizer.token_to_id(tags.open).has_value()) reasoning_.push_back(tags);
  }
  const std::string_view shown = prompt.substr(0, prompt.find_last_not_of(" \t\r\n") + 1);
  for (std::size_t i = 0; i < reasoning_.size(); ++i) {
    if (shown.ends_with(reasoning_[i].open)) begun_ = i;
    for (const std::string_view tag :
         {reasoning_[i].open, reasoning_[i].close, reasoning_[i].answer_open, reasoning_[i].answer_close})
      show_tokens_of(tokenizer, tag);
  }
  if (format == nullptr) return;
  for (const std::string_view marker :
       {format->open, format->close, format->section, format->section_end, format->name_end, format->name_tail,
        format->key_open, format->key_end, format->value_open, format->value_end})
    show_tokens_of(tokenizer, marker);
  if (!format->end_token.empty() && tokenizer.parts().added.is_special(format->end_token))
    if (const auto id = tokenizer.token_to_id(format->end_token)) ends_.push_back(*id);
  for (const Json& tool : tools.is_null() ? Json::Array() : tools.as_array("tools")) {
    const Json* function = tool.find("function");
    auto& parameters = tools_[function->get_string("name", "")];
    const Json* schema = function->find_value("parameters");
    const Json* properties = schema == nullptr ? nullptr : schema->find("properties");
    if (properties == nullptr || !properties->is_object()) continue;
    for (const auto& [name, property] : properties->as_object("properties"))
      parameters.insert_or_assign(name, is_text_schema(property));
  }
}

bool AnswerSyntax::is_text(std::string_view tool, std::string_view parameter) const {
  const auto known = tools_.find(tool);
  if (known == tools_.end()) return false;
  const auto found = known->second.find(parameter);
  return found != known->second.end() && found->second;
}

std::vector<std::int32_t> AnswerSyntax::shown_ids() const {
  std::vector<std::int32_t> ids;
  for (const SpecialToken& token : shown_) ids.push_back(token.id);
  return ids;
}

bool AnswerSyntax::is_hidden(std::string_view marker) const {
  return std::ranges::any_of(
      shown_, [&](const SpecialToken& token) { return marker.find(token.text) != std::string_view::npos; });
}

void AnswerSyntax::show_tokens_of(const Tokenizer& tokenizer, std::string_view marker) {
  if (marker.empty()) return;
  const EncodeOptions options{.add_special_tokens = false, .with_offsets = false, .with_tokens = false};
  for (const std::int32_t id : tokenizer.encode(marker, options).ids) {
    std::optional<std::string> text = tokenizer.id_to_token(id);
    if (!text || !tokenizer.parts().added.is_special(*text) || marker.find(*text) == std::string_view::npos) continue;
    if (std::ranges::find(shown_, id, &SpecialToken::id) == shown_.end()) shown_.push_back({std::move(*text), id});
  }
}

}  // namespace alate::pipelines
