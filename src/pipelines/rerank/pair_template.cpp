#include "pipelines/rerank/pair_template.h"

#include <algorithm>
#include <utility>

#include "alate/error.h"
#include "formats/json.h"
#include "pipelines/modules/module_files.h"

namespace alate::pipelines {
namespace {

using formats::Json;

// The prompt that Qwen3-Reranker was trained with: https://huggingface.co/Qwen/Qwen3-Reranker-0.6B.
constexpr std::string_view kQwen3 =
    "{%- set ns = namespace(instruction='Given a web search query, retrieve relevant passages that answer the query') "
    "-%}"
    "{%- for m in messages if m.role == 'system' %}{% set ns.instruction = m.content %}{% endfor -%}"
    "{{- '<|im_start|>system\\nJudge whether the Document meets the requirements based on the Query and the Instruct "
    "provided. Note that the answer can only be \"yes\" or \"no\".<|im_end|>\\n<|im_start|>user\\n' -}}"
    "{{- '<Instruct>: ' + ns.instruction -}}"
    "{%- for m in messages if m.role == 'query' %}{{ '\\n<Query>: ' + m.content }}{% endfor -%}"
    "{%- for m in messages if m.role == 'document' %}{{ '\\n<Document>: ' + m.content }}{% endfor -%}"
    "{{- '<|im_end|>\\n<|im_start|>assistant\\n<think>\\n\\n</think>\\n\\n' -}}";

void append_message(std::string& out, std::string_view role, std::string_view content, bool in_parts) {
  out += out.size() > 1 ? R"(,{"role":")" : R"({"role":")";
  out += role;
  out += in_parts ? R"(","content":[{"type":"text","text":)" : R"(","content":)";
  formats::append_json_string(out, content);
  out += in_parts ? "}]}" : "}";
}

// What the texts have in common at their beginnings, or at their ends.
std::string common_prefix(const std::string& a, const std::string& b) {
  return {a.begin(), std::ranges::mismatch(a, b).in1};
}
std::string common_suffix(const std::string& a, const std::string& b) {
  const auto rest = std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend()).first.base();
  return {rest, a.end()};
}

}  // namespace

PairTemplate PairTemplate::qwen3() { return {ChatTemplate(kQwen3), false}; }

std::optional<PairTemplate> PairTemplate::of_folder(const std::filesystem::path& folder) {
  std::optional<ChatTemplate> chat;
  try {
    chat = ChatTemplate::load(folder);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::not_found) throw;
    return std::nullopt;
  }
  PairTemplate made(std::move(*chat), false);
  const std::optional<Json> settings = read_json(folder, "sentence_bert_config.json");
  const Json* calls = settings ? settings->find_value("processing_kwargs") : nullptr;
  const Json* given = calls == nullptr ? nullptr : calls->find_value("chat_template");
  if (given != nullptr && given->is_object()) {
    made.begins_answer_ = given->get_bool("add_generation_prompt", false);
    Json::Object variables = given->as_object("chat_template");
    std::erase_if(variables, [](const auto& member) {
      return member.first == "add_generation_prompt" || member.first == "restore_suffix";
    });
    if (!variables.empty()) made.variables_ = formats::to_json_text(Json(std::move(variables)));
    constexpr std::size_t kMaxVariables = std::size_t{64} << 10;  // a template may do more for a longer request
    if (made.variables_.size() > kMaxVariables) {
      throw make_error(ErrorCode::resource_exhausted, "sentence_bert_config.json of the model has ",
                       made.variables_.size(), " bytes of variables for its chat template; at most ", kMaxVariables,
                       " are read");
    }
  }
  for (const bool lists_parts : {false, true}) {
    made.lists_parts_ = lists_parts;
    if (made.carries_both()) return made;
  }
  return std::nullopt;
}

std::string PairTemplate::render(std::string_view query, std::string_view document, std::string_view prompt) const {
  std::string messages = "[";
  if (!prompt.empty()) append_message(messages, "system", prompt, lists_parts_);
  append_message(messages, "query", query, lists_parts_);
  append_message(messages, "document", document, lists_parts_);
  messages += ']';
  return chat_.render(std::string_view(messages), {.variables = variables_, .add_generation_prompt = begins_answer_})
      .text;
}

// Whether both texts reach the rendered one.
bool PairTemplate::carries_both() const {
  try {
    const std::string pair = render("a query", "a document", {});
    return render("another", "a document", {}) != pair && render("a query", "another", {}) != pair;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::resource_exhausted) throw;  // two words are no reason to do that much
    return false;
  }
}

TemplatePairs::TemplatePairs(PairTemplate pair_template, std::string query, std::string prompt)
    : template_(std::move(pair_template)), query_(std::move(query)), prompt_(std::move(prompt)) {
  // These have no character in common at their beginnings or ends.
  const std::string one = template_.render(query_, "0", prompt_);
  const std::string other = template_.render(query_, "1 2 3 4", prompt_);
  before_ = common_prefix(one, other);
  after_ = common_suffix(one, other);
}

RenderedPair TemplatePairs::of(std::string_view document) const {
  RenderedPair pair{.text = template_.render(query_, document, prompt_)};
  pair.end = pair.text.size();
  const bool is_framed = before_.size() + after_.size() <= pair.text.size() && pair.text.starts_with(before_) &&
                         pair.text.ends_with(after_);
  if (!is_framed)
    throw Error(ErrorCode::unsupported,
                "the model's chat template writes a document's text in several places, so that it cannot be cut: "
                "chat_template");
  pair.begin = before_.size();
  pair.end -= after_.size();
  return pair;
}

}  // namespace alate::pipelines
