// The embedding modules of a sentence-transformers folder: pooling, prompts and the steps that follow.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alate/embedding.h"
#include "formats/json.h"
#include "graph/attributes.h"

namespace alate::pipelines {

/// A linear layer after the pooling, with its activation (a name in transformers' ACT2FN).
struct DenseModule {
  std::filesystem::path folder;
  std::string activation;
};

/// One step after the pooling.
struct ModuleStep {
  enum class Kind { dense, normalize };
  Kind kind = Kind::normalize;
  DenseModule dense;
};

struct EmbeddingModules {
  std::vector<graph::PoolMode> pooling = {graph::PoolMode::mean};  // concatenated in this order
  bool pool_prompt = true;                                         // whether the prompt's tokens are pooled too
  std::vector<ModuleStep> steps;
  std::map<std::string, std::string, std::less<>> prompts;
  std::string default_prompt;             // a name in prompts, or empty
  std::optional<std::size_t> max_length;  // stated_max_length
  bool lower_case = false;                // texts are lower-cased before tokenization

  bool normalizes() const { return !steps.empty() && steps.back().kind == ModuleStep::Kind::normalize; }
};

graph::PoolMode pool_mode(Pooling pooling);
/// As parse_pooling. Throws unsupported naming it.
graph::PoolMode pool_mode(const std::string& name);

/// The most tokens of a text that the folder states: in sentence_bert_config.json, else in tokenizer_config.json.
/// Throws corrupt for what is no length.
std::optional<std::size_t> stated_max_length(const std::filesystem::path& folder);

/// Reads modules.json and the files it names. A folder without modules.json uses mean pooling. Throws corrupt for files
/// that contradict themselves and unsupported naming a module or setting that is not known here.
/// Where the folder gives no dense embeddings (KindModules), modules.json itself is not looked at.
EmbeddingModules read_modules(const std::filesystem::path& folder, bool is_dense = true);

}  // namespace alate::pipelines
