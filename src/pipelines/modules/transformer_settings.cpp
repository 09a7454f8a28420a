#include "pipelines/modules/transformer_settings.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "alate/error.h"
#include "formats/json.h"
#include "pipelines/modules/module_files.h"

namespace alate::pipelines {
namespace {

namespace fs = std::filesystem;
using formats::Json;

// Lengths above this mean "no limit": transformers writes 1e30 for it.
constexpr double kNoLimit = 1e9;

// The newest name, then those of early versions.
constexpr std::array<std::string_view, 7> kFiles = {
    "sentence_bert_config.json",      "sentence_roberta_config.json", "sentence_distilbert_config.json",
    "sentence_camembert_config.json", "sentence_albert_config.json",  "sentence_xlm-roberta_config.json",
    "sentence_xlnet_config.json"};

std::optional<Json> read_config(const fs::path& folder) {
  for (const std::string_view name : kFiles) {
    if (std::optional<Json> config = read_json(folder, name)) return config;
  }
  return std::nullopt;
}

std::optional<std::size_t> length_limit(const Json* config, std::string_view key) {
  const Json* value = config == nullptr ? nullptr : config->find(key);
  if (value == nullptr || value->is_null()) return std::nullopt;
  const double limit = value->as_double(key);
  if (limit == 0 || limit >= kNoLimit) return std::nullopt;  // transformers cuts nothing either
  if (!(limit >= 1)) throw make_error(ErrorCode::corrupt, key, " must be a length of at least 1");
  return static_cast<std::size_t>(limit);
}

// An object of the configuration, under its present name or its former one.
const Json* options_of(const Json& config, std::string_view name, std::string_view former) {
  const Json* found = config.find(name);
  return found != nullptr ? found : config.find(former);
}

std::optional<std::size_t> max_length_of(const Json& config) {
  if (const Json* calls = config.find("processing_kwargs")) {
    for (const std::string_view of : {"text", "common"}) {
      if (const auto length = length_limit(calls->find(of), "max_length")) return length;
    }
  }
  if (const auto length = length_limit(options_of(config, "processor_kwargs", "tokenizer_args"), "model_max_length"))
    return length;
  return length_limit(&config, "max_seq_length");
}

// Arguments of the tokenizer's calls that change no vector here, where rows are not padded and always truncated.
constexpr std::array<std::string_view, 7> kHarmless = {
    "max_length",           "padding", "padding_side", "pad_to_multiple_of", "return_tensors", "return_attention_mask",
    "return_token_type_ids"};

void require_known_calls(const Json& config) {
  const Json* calls = config.find("processing_kwargs");
  if (calls == nullptr || calls->is_null()) return;
  for (const std::string_view of : {"text", "common"}) {
    const Json* options = calls->find(of);
    if (options == nullptr || options->is_null()) continue;
    for (const auto& [name, value] : options->as_object(of)) {
      const bool truncates = name == "truncation" && !(value.is_bool() && !value.as_bool(name));
      if (truncates || std::ranges::find(kHarmless, name) != kHarmless.end()) continue;
      throw make_error(ErrorCode::unsupported, "sentence_bert_config.json: processing_kwargs has ",
                       formats::quoted_name(name), ", which is not known here: ", name);
    }
  }
}

// How a text's values are taken from the transformer: by its forward, from its last layer.
void require_known_output(const Json& config) {
  if (const std::string task = config.get_string("transformer_task", "feature-extraction");
      task != "feature-extraction")
    throw make_error(ErrorCode::unsupported, "sentence_bert_config.json: the transformer_task '", task,
                     "' gives no vectors of texts here: ", task);
  const Json* modalities = config.find("modality_config");
  if (modalities == nullptr || modalities->is_null()) return;
  const Json* text = modalities->find("text");
  if (text == nullptr)
    throw Error(ErrorCode::unsupported, "sentence_bert_config.json: modality_config has no text: modality_config");
  const std::string method = text->get_string("method", "forward");
  const Json* output = text->find("method_output_name");
  const bool is_list = output != nullptr && output->is_array() && output->as_array("method_output_name").size() == 1;
  if (is_list) output = &output->as_array("method_output_name").front();
  const bool is_last =
      output != nullptr && output->is_string() && output->as_string("method_output_name") == "last_hidden_state";
  if (method != "forward" || !is_last)
    throw make_error(ErrorCode::unsupported, "sentence_bert_config.json: modality_config takes '", method, "' and ",
                     output == nullptr ? "null" : formats::to_json_text(*output),
                     " for texts; only forward's last_hidden_state is built here: modality_config");
}

}  // namespace

std::optional<std::size_t> stated_max_length(const fs::path& folder) {
  if (const std::optional<Json> config = read_config(folder)) {
    if (const auto length = max_length_of(*config)) return length;
  }
  const std::optional<Json> tokenizer = read_json(folder, "tokenizer_config.json");
  return tokenizer ? length_limit(&*tokenizer, "model_max_length") : std::nullopt;
}

std::size_t usual_max_length(const fs::path& folder, std::size_t positions) {
  return std::min(stated_max_length(folder).value_or(positions), positions);
}

void require_dense_output(const fs::path& folder) {
  if (const std::optional<Json> config = read_config(folder)) require_known_output(*config);
}

TransformerSettings read_transformer_settings(const fs::path& folder) {
  TransformerSettings settings;
  settings.max_length = stated_max_length(folder);
  const std::optional<Json> config = read_config(folder);
  if (!config) return settings;
  require_known_calls(*config);
  settings.query_length = length_limit(&*config, "query_length");
  settings.document_length = length_limit(&*config, "document_length");
  settings.lower_case = config->get_bool("do_lower_case", false);
  settings.output_name = config->get_string("module_output_name", settings.output_name);
  return settings;
}

}  // namespace alate::pipelines
