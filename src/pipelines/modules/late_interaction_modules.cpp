#include "pipelines/modules/late_interaction_modules.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alate/error.h"
#include "formats/json.h"
#include "pipelines/modules/kind_files.h"
#include "pipelines/modules/module_files.h"
#include "pipelines/modules/torch_activations.h"
#include "runtime/loading/model_files.h"

namespace alate::pipelines {
namespace {

using formats::Json;

constexpr std::int64_t kMostTokens = 1 << 20;
constexpr std::size_t kUsualQueryLength = 32;
constexpr std::string_view kPunctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";  // Python's string.punctuation

Json object_in(const std::filesystem::path& folder, std::string_view name) {
  return read_json(folder, name).value_or(Json(Json::Object{}));
}

const Json* given(const Json& config, std::string_view key) {
  const Json* value = config.find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

std::optional<std::size_t> length_in(const Json& config, std::string_view key) {
  const Json* value = given(config, key);
  if (value == nullptr) return {};
  const std::int64_t length = value->as_int(key);
  if (length < 1 || length > kMostTokens)
    throw make_error(ErrorCode::corrupt, key, " is ", length, ", which is no length in tokens");
  return static_cast<std::size_t>(length);
}

std::vector<std::string> words_in(const Json& config, std::string_view key) {
  std::vector<std::string> words;
  for (const Json& word : config.find(key)->as_array(key)) words.push_back(word.as_string(key));
  return words;
}

std::vector<std::string> punctuation() {
  std::vector<std::string> words;
  for (const char c : kPunctuation) words.emplace_back(1, c);
  return words;
}

std::string expansion_token(const std::filesystem::path& folder) {
  const Json config = object_in(folder, "tokenizer_config.json");
  return special_token(config, "mask_token", special_token(config, "eos_token", "[MASK]"));
}

// sentence-transformers' own spelling: {"strategy", "length", "attend", "token"}, or null.
std::optional<QueryExpansion> read_expansion(const Json& config, const std::filesystem::path& folder) {
  if (config.is_null()) return {};
  const std::string strategy = config.get_string("strategy", "");
  if (strategy != "fixed" && strategy != "min")
    throw make_error(ErrorCode::unsupported, "query_expansion's strategy is ", formats::quoted_name(strategy),
                     ", neither fixed nor min: ", strategy);
  const std::optional<std::size_t> length = length_in(config, "length");
  if (!length) throw Error(ErrorCode::corrupt, "query_expansion has no length");
  const Json* token = given(config, "token");
  return QueryExpansion{.token = token != nullptr ? token->as_string("token") : expansion_token(folder),
                        .length = *length,
                        .attends = config.get_bool("attend", false),
                        .is_fixed = strategy == "fixed"};
}

// The settings that PyLate writes into config_sentence_transformers.json.
void read_pylate(const Json& config, const std::filesystem::path& folder, LateInteractionModule& module) {
  module.query = {.marker = config.get_string("query_prefix", ""), .length = length_in(config, "query_length")};
  module.document = {.marker = config.get_string("document_prefix", ""),
                     .length = length_in(config, "document_length")};
  if (const Json* expansion = config.find("query_expansion")) {
    module.expansion = read_expansion(*expansion, folder);
  } else if (config.get_bool("do_query_expansion", true)) {
    const bool attends = config.get_bool("attend_to_expansion_tokens", config.get_bool("attend_to_mask_tokens", false));
    module.expansion = QueryExpansion{.token = expansion_token(folder),
                                      .length = module.query.length.value_or(kUsualQueryLength),
                                      .attends = attends};
  }
  module.skipped = given(config, "skiplist_words") != nullptr ? words_in(config, "skiplist_words") : punctuation();
}

// The settings of version 6.2 of sentence-transformers, with the Transformer's.
void read_transformer(const std::filesystem::path& folder, LateInteractionModule& module) {
  const Json config = object_in(folder, "sentence_bert_config.json");
  if (const auto length = length_in(config, "query_length")) module.query.length = length;
  if (const auto length = length_in(config, "document_length")) module.document.length = length;
  if (const Json* expansion = config.find("query_expansion")) module.expansion = read_expansion(*expansion, folder);
}

TokenProjection read_projection(const std::filesystem::path& folder) {
  const Json config = object_in(folder, "config.json");
  const std::string activation = config.get_string("activation_function", "torch.nn.modules.activation.Tanh");
  const std::string name = last_part(activation);
  if (!is_torch_activation(name) || is_along_rows(name))
    throw make_error(ErrorCode::unsupported, "the Dense module over tokens has the activation_function ",
                     formats::quoted_name(activation), ", which is not built there: ", name);
  for (const std::string_view key : {"module_input_name", "module_output_name"}) {
    const std::string value = config.get_string(key, "token_embeddings");
    if (value != "token_embeddings")
      throw make_error(ErrorCode::unsupported, "the Dense module of a model for late interaction has the ", key, " ",
                       formats::quoted_name(value), ", not token_embeddings: ", value);
  }
  return {.folder = folder, .activation = name, .has_residual = config.get_bool("use_residual", false)};
}

void read_mask(const std::filesystem::path& folder, LateInteractionModule& module) {
  const Json config = object_in(folder, "config.json");
  if (given(config, "keep_only_token_ids") != nullptr)
    throw Error(ErrorCode::unsupported,
                "the MultiVectorMask module has keep_only_token_ids, of models for images: keep_only_token_ids");
  module.skipped.clear();
  if (given(config, "skiplist_words") != nullptr) module.skipped = words_in(config, "skiplist_words");
  if (given(config, "skiplist_tasks") == nullptr) return;
  const std::vector<std::string> tasks = words_in(config, "skiplist_tasks");
  module.skips_in_queries = std::ranges::find(tasks, "query") != tasks.end();
  module.skips_in_documents = std::ranges::find(tasks, "document") != tasks.end();
}

LateInteractionModule read_chain(const std::filesystem::path& folder, const std::vector<ModuleEntry>& entries,
                                 const Json& settings) {
  LateInteractionModule module;
  if (settings.get_string("model_type", "") == "ColBERT") {
    read_pylate(settings, folder, module);
  } else {
    module.normalizes = false;  // unless a module does
  }
  read_transformer(folder, module);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const ModuleEntry& entry = entries[i];
    if (i == 0 && entry.type == "Transformer" && (entry.path.empty() || entry.path == ".")) continue;
    if (i > 0 && entry.type == "Dense") {
      module.projections.push_back(read_projection(runtime::module_folder(folder, entry.path)));
    } else if (i > 0 && entry.type == "MultiVectorMask") {
      read_mask(runtime::module_folder(folder, entry.path), module);
    } else if (i > 0 && entry.type == "Normalize") {
      module.normalizes = true;
    } else {
      throw make_error(ErrorCode::unsupported, "modules.json of a model for late interaction has the module '",
                       entry.type, "' at place ", i, ", which is not built there: ", entry.type);
    }
  }
  return module;
}

// A checkpoint of ColBERT's own code: the projection lies beside the encoder's weights.
LateInteractionModule read_checkpoint(const std::filesystem::path& folder) {
  const Json metadata = object_in(folder, "artifact.metadata");
  const auto marker = [&](std::string_view key, std::string_view otherwise) {
    return metadata.get_string(key, otherwise) + " ";
  };
  LateInteractionModule module;
  module.projections.push_back({.folder = folder, .is_beside_encoder = true});
  module.query = {.marker = marker("query_token_id", "[unused0]"), .length = {}};
  module.document = {.marker = marker("doc_token_id", "[unused1]"), .length = length_in(metadata, "doc_maxlen")};
  module.expansion = QueryExpansion{.token = expansion_token(folder),
                                    .length = length_in(metadata, "query_maxlen").value_or(kUsualQueryLength),
                                    .attends = metadata.get_bool("attend_to_mask_tokens", false)};
  if (metadata.get_bool("mask_punctuation", true)) module.skipped = punctuation();
  return module;
}

bool is_checkpoint(const std::filesystem::path& folder) {
  const Json config = object_in(folder, "config.json");
  const Json* names = config.find("architectures");
  if (names == nullptr || !names->is_array()) return false;
  return std::ranges::any_of(names->as_array("architectures"), [](const Json& name) {
    return name.is_string() && name.as_string("architectures") == "HF_ColBERT";
  });
}

}  // namespace

std::optional<LateInteractionModule> read_late_interaction(const std::filesystem::path& folder) {
  const Json settings = object_in(folder, "config_sentence_transformers.json");
  if (const std::optional<Json> list = read_json(folder, "modules.json")) {
    const std::vector<ModuleEntry> entries = entries_of(*list);
    const auto is_for_tokens = [](const ModuleEntry& entry) {
      return entry.type == "MultiVectorMask" || entry.class_name.starts_with("pylate.");
    };
    const std::string type = settings.get_string("model_type", "");
    if (type != "ColBERT" && type != "MultiVectorEncoder" && std::ranges::none_of(entries, is_for_tokens)) return {};
    return read_chain(folder, entries, settings);
  }
  if (!is_checkpoint(folder)) return {};
  return read_checkpoint(folder);
}

}  // namespace alate::pipelines
