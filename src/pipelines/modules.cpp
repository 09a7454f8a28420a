#include "pipelines/modules.h"

#include <algorithm>
#include <array>
#include <utility>

#include "alate/error.h"
#include "base/files/contained_files.h"
#include "base/files/file_presence.h"

namespace alate::pipelines {

namespace {

using formats::Json;
using graph::PoolMode;

// Lengths above this mean "no limit": transformers writes 1e30 for it.
constexpr double kNoLimit = 1e9;

constexpr std::size_t kMaxBytes = std::size_t{64} << 20;
constexpr std::size_t kMostModules = 64;

std::optional<Json> read_json(const std::filesystem::path& folder, std::string_view name) {
  const std::filesystem::path path = folder / name;
  if (!base::is_there(path)) return std::nullopt;
  return formats::parse_json(base::read_contained_file(folder, name, kMaxBytes), path.string());
}

// "sentence_transformers.models.Pooling" and newer paths are recognized by their last part.
std::string last_part(std::string_view dotted) { return std::string(dotted.substr(dotted.rfind('.') + 1)); }

std::filesystem::path module_folder(const std::filesystem::path& folder, const std::string& path) {
  if (path.empty() || path == ".") return folder;  // the Transformer's
  if (!base::is_plain_relative_path(path)) {
    throw make_error(ErrorCode::corrupt, (folder / "modules.json").string(), ": path ", formats::quoted_name(path),
                     " is no name inside the model's folder");
  }
  base::ContainedFiles(folder).require_inside(folder / path);
  return folder / path;
}

std::optional<std::size_t> length_limit(const Json& config, std::string_view key) {
  const Json* value = config.find(key);
  if (value == nullptr || value->is_null()) return std::nullopt;
  const double limit = value->as_double(key);
  if (limit >= kNoLimit) return std::nullopt;
  if (!(limit >= 1)) throw make_error(ErrorCode::corrupt, key, " must be a length of at least 1");
  return static_cast<std::size_t>(limit);
}

// The flags of older folders, in the order in which sentence-transformers concatenates.
constexpr std::array<std::pair<std::string_view, PoolMode>, 6> kPoolingFlags = {
    {{"pooling_mode_cls_token", PoolMode::cls},
     {"pooling_mode_max_tokens", PoolMode::max},
     {"pooling_mode_mean_tokens", PoolMode::mean},
     {"pooling_mode_mean_sqrt_len_tokens", PoolMode::mean_sqrt_len},
     {"pooling_mode_weightedmean_tokens", PoolMode::weighted_mean},
     {"pooling_mode_lasttoken", PoolMode::last}}};
void read_pooling(const Json& config, EmbeddingModules& modules) {
  modules.pooling.clear();
  if (const Json* modes = config.find("pooling_mode"); modes != nullptr && modes->is_string()) {
    modules.pooling.push_back(pool_mode(modes->as_string("pooling_mode")));
  } else if (modes != nullptr && !modes->is_null()) {
    for (const Json& mode : modes->as_array("pooling_mode"))
      modules.pooling.push_back(pool_mode(mode.as_string("pooling_mode")));
  } else {
    for (const auto& [flag, mode] : kPoolingFlags) {
      if (config.get_bool(flag, flag == "pooling_mode_mean_tokens")) modules.pooling.push_back(mode);
    }
  }
  if (modules.pooling.empty())
    throw Error(ErrorCode::corrupt, "the Pooling module's config.json chooses no pooling mode");
  modules.pool_prompt = config.get_bool("include_prompt", true);
}

// The name in transformers' ACT2FN of "torch.nn.modules.activation.Tanh".
std::string activation_name(std::string_view type) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kNames = {{{"Identity", "linear"},
                                                                                           {"Tanh", "tanh"},
                                                                                           {"ReLU", "relu"},
                                                                                           {"GELU", "gelu"},
                                                                                           {"Sigmoid", "sigmoid"},
                                                                                           {"SiLU", "silu"},
                                                                                           {"Mish", "mish"},
                                                                                           {"ReLU6", "relu6"}}};
  const std::string name = last_part(type);
  const auto* found = std::find_if(kNames.begin(), kNames.end(), [&](const auto& row) { return row.first == name; });
  if (found == kNames.end())
    throw make_error(ErrorCode::unsupported, "the Dense module's activation_function '", type,
                     "' is not known here: ", name);
  return std::string(found->second);
}

ModuleStep read_dense(const std::filesystem::path& folder) {
  const std::optional<Json> config = read_json(folder, "config.json");
  if (!config)
    throw make_error(ErrorCode::not_found, "the Dense module has no '", (folder / "config.json").string(), "'");
  const std::string type = config->get_string("activation_function", "torch.nn.modules.activation.Tanh");
  return {.kind = ModuleStep::Kind::dense, .dense = {folder, activation_name(type)}};
}

void read_module(const std::filesystem::path& folder, const Json& module, std::size_t place,
                 EmbeddingModules& modules) {
  const std::string type = last_part(module.get_string("type", ""));
  const std::filesystem::path path = module_folder(folder, module.get_string("path", ""));
  if (place == 0) {
    if (type != "Transformer")
      throw make_error(ErrorCode::unsupported, "modules.json begins with the module '", type,
                       "', not with a Transformer: ", type);
    if (!path.filename().empty() && path != folder)
      throw make_error(ErrorCode::unsupported, "modules.json has the Transformer in a folder of its own, '",
                       path.string(), "': Transformer");
    return;
  }
  if (type == "Pooling" && place == 1) {
    if (const std::optional<Json> config = read_json(path, "config.json")) read_pooling(*config, modules);
  } else if (type == "Dense" && place > 1) {
    modules.steps.push_back(read_dense(path));
  } else if (type == "Normalize" && place > 1) {
    modules.steps.push_back({.kind = ModuleStep::Kind::normalize, .dense = {}});
  } else {
    throw make_error(ErrorCode::unsupported, "modules.json has the module '", type, "' at place ", place,
                     ", which is not built here: ", type);
  }
}

void read_prompts(const Json& config, EmbeddingModules& modules) {
  if (const Json* prompts = config.find("prompts"); prompts != nullptr && prompts->is_object()) {
    for (const auto& [name, prompt] : prompts->as_object("prompts"))
      modules.prompts.emplace(name, prompt.as_string("prompts"));
  }
  modules.default_prompt = config.get_string("default_prompt_name", "");
  if (!modules.default_prompt.empty() && !modules.prompts.contains(modules.default_prompt)) {
    throw make_error(ErrorCode::corrupt, "config_sentence_transformers.json names the default prompt '",
                     modules.default_prompt, "' but has no such prompt");
  }
}

}  // namespace

PoolMode pool_mode(Pooling pooling) {
  switch (pooling) {
    case Pooling::mean: return PoolMode::mean;
    case Pooling::cls: return PoolMode::cls;
    case Pooling::max: return PoolMode::max;
    case Pooling::last: return PoolMode::last;
    case Pooling::mean_sqrt_len: return PoolMode::mean_sqrt_len;
    case Pooling::weighted_mean: return PoolMode::weighted_mean;
  }
  throw Error(ErrorCode::internal, "unknown pooling");
}

PoolMode pool_mode(const std::string& name) {
  if (const auto pooling = parse_pooling(name)) return pool_mode(*pooling);
  throw make_error(ErrorCode::unsupported, "pooling mode '", name, "' is not known here: ", name);
}

std::optional<std::size_t> stated_max_length(const std::filesystem::path& folder) {
  std::optional<std::size_t> length;
  if (const std::optional<Json> config = read_json(folder, "sentence_bert_config.json"))
    length = length_limit(*config, "max_seq_length");
  if (length) return length;
  if (const std::optional<Json> config = read_json(folder, "tokenizer_config.json"))
    length = length_limit(*config, "model_max_length");
  return length;
}

EmbeddingModules read_modules(const std::filesystem::path& folder, bool is_dense) {
  EmbeddingModules modules;
  if (const std::optional<Json> list = is_dense ? read_json(folder, "modules.json") : std::nullopt) {
    const Json::Array& entries = list->as_array("modules.json");
    if (entries.size() > kMostModules)
      throw make_error(ErrorCode::corrupt, (folder / "modules.json").string(), " has ", entries.size(),
                       " modules; it may have ", kMostModules);
    for (std::size_t i = 0; i < entries.size(); ++i) read_module(folder, entries[i], i, modules);
    if (entries.size() < 2) throw Error(ErrorCode::unsupported, "modules.json has no Pooling module: Pooling");
  }
  if (const std::optional<Json> config = read_json(folder, "config_sentence_transformers.json"))
    read_prompts(*config, modules);
  modules.max_length = stated_max_length(folder);
  if (const std::optional<Json> config = read_json(folder, "sentence_bert_config.json"))
    modules.lower_case = config->get_bool("do_lower_case", false);
  return modules;
}

}  // namespace alate::pipelines
