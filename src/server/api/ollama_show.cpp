#include "server/api/ollama_show.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <utility>

#include "base/files/contained_files.h"
#include "runtime/loading/model_files.h"
#include "runtime/loading/model_form.h"
#include "server/api/ollama.h"
#include "server/api/timestamp.h"
#include "tokenizers/chat_templates/sources/template_files.h"

namespace alate::server {
namespace {

using formats::Json;

constexpr std::size_t kMostConfigBytes = std::size_t{1} << 20;

template <typename Read>
void try_reading(const Read& read) {
  try {
    read();
  } catch (const Error&) {
    return;
  }
}

bool generates(const ModelListing& listing) {
  return std::ranges::find(listing.tasks, pipelines::Task::generate) != listing.tasks.end();
}

// Ollama's keys after the architecture prefix, and their config.json equivalents.
constexpr auto kFacts =
    std::to_array<std::pair<std::string_view, std::string_view>>({{"block_count", "num_hidden_layers"},
                                                                  {"attention.head_count", "num_attention_heads"},
                                                                  {"attention.head_count_kv", "num_key_value_heads"},
                                                                  {"attention.layer_norm_rms_epsilon", "rms_norm_eps"},
                                                                  {"feed_forward_length", "intermediate_size"},
                                                                  {"rope.freq_base", "rope_theta"},
                                                                  {"vocab_size", "vocab_size"}});

std::int64_t count_of(std::size_t count) { return static_cast<std::int64_t>(count); }

Json model_info(const ModelListing& listing, const Json& config) {
  Json::Object info{{"general.architecture", listing.architecture}, {"general.basename", listing.name}};
  if (listing.parameters > 0) info.emplace_back("general.parameter_count", count_of(listing.parameters));
  if (listing.architecture.empty()) return Json(std::move(info));
  const std::string prefix = listing.architecture + ".";
  if (listing.dimensions > 0) info.emplace_back(prefix + "embedding_length", count_of(listing.dimensions));
  if (listing.max_length > 0) info.emplace_back(prefix + "context_length", count_of(listing.max_length));
  for (const auto& [name, key] : kFacts) {
    const Json* value = config.find(key);
    if (value != nullptr && value->is_number()) info.emplace_back(prefix + std::string(name), *value);
  }
  return Json(std::move(info));
}

// Whether a template reads the variable.
bool has_word(std::string_view text, std::string_view word) {
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_part(text[at - 1])) && (end == text.size() || !is_part(text[end]))) return true;
  }
  return false;
}

bool has_reasoning(std::string_view text) {
  constexpr std::array<std::string_view, 4> kWords = {"enable_thinking", "thinking", "reasoning_effort",
                                                      "reasoning_content"};
  return text.find("<think>") != std::string_view::npos ||
         std::ranges::any_of(kWords, [&](std::string_view word) { return has_word(text, word); });
}

// In Ollama's words, which has none for reranking.
Json capabilities_of(const ModelListing& listing, const ModelTexts& texts) {
  Json::Array capabilities;
  for (const pipelines::Task task : listing.tasks) {
    capabilities.emplace_back(task == pipelines::Task::embed      ? "embedding"
                              : task == pipelines::Task::generate ? "completion"
                                                                  : pipelines::to_string(task));
  }
  if (!generates(listing)) return capabilities;
  if (has_word(texts.chat_template, "tools")) capabilities.emplace_back("tools");
  if (has_reasoning(texts.chat_template)) capabilities.emplace_back("thinking");
  return capabilities;
}

// A line of Ollama's parameters.
void add_parameter(std::string& lines, std::string_view name, const Json& value) {
  lines += lines.empty() ? "" : "\n";
  lines += name;
  lines.append(name.size() < 30 ? 30 - name.size() : 1, ' ');
  lines += ' ' + formats::to_json_text(value);
}

std::string parameters_of(const generation::GenerationConfig& config) {
  std::string lines;
  const SamplingOptions usual;
  const auto add = [&](std::string_view name, double value, double usual_value) {
    if (value != usual_value) add_parameter(lines, name, value);
  };
  add("temperature", config.sampling.temperature, usual.temperature);
  if (config.sampling.top_k != usual.top_k) add_parameter(lines, "top_k", config.sampling.top_k);
  add("top_p", config.sampling.top_p, usual.top_p);
  add("min_p", config.sampling.min_p, usual.min_p);
  add("typical_p", config.sampling.typical_p, usual.typical_p);
  add("repeat_penalty", config.sampling.repetition_penalty, usual.repetition_penalty);
  if (config.stopping.max_tokens) add_parameter(lines, "num_predict", *config.stopping.max_tokens);
  for (const std::string& stop : config.stopping.stop) add_parameter(lines, "stop", stop);
  return lines;
}

}  // namespace

ModelTexts read_model_texts(const ModelListing& listing) {
  ModelTexts texts;
  try_reading([&] {
    const runtime::ModelFiles files = runtime::find_model_files(listing.path);
    try_reading([&] {
      texts.config = files.is_gguf()
                         ? runtime::read_config(files)
                         : formats::parse_json(base::read_contained_file(files.folder, "config.json", kMostConfigBytes),
                                               "config.json");
    });
    if (!generates(listing)) return;
    try_reading([&] {
      const auto templates = tokenizers::chat_templates::read_template_files(files.tokenizer());
      const auto found = templates.texts.find("default");
      if (found != templates.texts.end()) texts.chat_template = tokenizers::chat_templates::valid_text(found->second);
    });
    if (files.tokenizer() == files.folder)
      try_reading([&] { texts.generation = generation::read_generation_config(files.folder); });
  });
  return texts;
}

Json ollama_show(const ModelListing& listing, const ModelTexts& texts) {
  // A model without a template reads a prompt as it is.
  const std::string shown = texts.chat_template.empty() ? "{{ .Prompt }}" : texts.chat_template;
  return Json::Object{{"license", ""},
                      {"modelfile", "FROM " + listing.name + "\n"},
                      {"parameters", parameters_of(texts.generation)},
                      {"template", shown},
                      {"details", ollama_details(listing)},
                      {"model_info", model_info(listing, texts.config)},
                      {"capabilities", capabilities_of(listing, texts)},
                      {"modified_at", rfc3339(listing.modified)}};
}

}  // namespace alate::server
