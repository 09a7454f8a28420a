// What a sentence-transformers folder says about how texts become vectors.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/json.h"
#include "graph/attributes.h"

namespace alate::pipelines {

/// A linear layer behind the pooling, with its activation (a name of transformers' ACT2FN).
struct DenseModule {
  std::filesystem::path folder;
  std::string activation;
};

/// One step behind the pooling.
struct ModuleStep {
  enum class Kind { dense, normalize };
  Kind kind = Kind::normalize;
  DenseModule dense;
};

struct EmbeddingModules {
  std::vector<graph::PoolMode> pooling = {graph::PoolMode::mean};  // side by side in this order
  bool pool_prompt = true;                                         // whether the prompt's tokens are pooled too
  std::vector<ModuleStep> steps;
  std::map<std::string, std::string, std::less<>> prompts;
  std::string default_prompt;             // a name in prompts, or empty
  std::optional<std::size_t> max_length;  // as sentence_bert_config.json says, else tokenizer_config.json
  bool lower_case = false;                // texts are lower-cased before the tokenizer sees them

  bool normalizes() const { return !steps.empty() && steps.back().kind == ModuleStep::Kind::normalize; }
};

/// As sentence-transformers names it: "mean", "cls". Throws unsupported naming it.
graph::PoolMode pool_mode(const std::string& name);

/// Reads modules.json and what it names. A folder without modules.json averages its tokens. Throws corrupt for files
/// that contradict themselves and unsupported naming a module or setting that is not known here.
EmbeddingModules read_modules(const std::filesystem::path& folder);

}  // namespace alate::pipelines
