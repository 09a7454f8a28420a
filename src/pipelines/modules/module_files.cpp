#include "pipelines/modules/module_files.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "base/files/contained_files.h"
#include "base/files/file_presence.h"
#include "pipelines/modules/torch_activations.h"

namespace alate::pipelines {
namespace {

namespace fs = std::filesystem;
using formats::Json;
using graph::PoolMode;

constexpr std::size_t kMaxBytes = std::size_t{64} << 20;
constexpr std::size_t kMostModes = 64;

// The flags of older folders, in the order in which sentence-transformers concatenates.
constexpr std::array<std::pair<std::string_view, PoolMode>, 6> kPoolingFlags = {
    {{"pooling_mode_cls_token", PoolMode::cls},
     {"pooling_mode_max_tokens", PoolMode::max},
     {"pooling_mode_mean_tokens", PoolMode::mean},
     {"pooling_mode_mean_sqrt_len_tokens", PoolMode::mean_sqrt_len},
     {"pooling_mode_weightedmean_tokens", PoolMode::weighted_mean},
     {"pooling_mode_lasttoken", PoolMode::last}}};

PoolMode named_mode(const Json& name) {
  const std::string& text = name.as_string("pooling_mode");
  if (const auto pooling = parse_pooling(text)) return pool_mode(*pooling);
  throw make_error(ErrorCode::unsupported, "pooling mode '", text, "' is not known here: ", text);
}

std::vector<PoolMode> pooling_modes(const Json& config) {
  std::vector<PoolMode> modes;
  if (const Json* names = config.find("pooling_mode"); names != nullptr && names->is_string()) {
    modes.push_back(named_mode(*names));
  } else if (names != nullptr && !names->is_null()) {
    for (const Json& name : names->as_array("pooling_mode")) modes.push_back(named_mode(name));
  } else {
    for (const auto& [flag, mode] : kPoolingFlags) {
      if (config.get_bool(flag, false)) modes.push_back(mode);
    }
    if (modes.empty()) modes.push_back(PoolMode::mean);
  }
  if (modes.empty() || modes.size() > kMostModes)
    throw make_error(ErrorCode::corrupt, "the Pooling module's config.json has ", modes.size(),
                     " pooling modes; it may have 1 to ", kMostModes);
  return modes;
}

PoolingModule pooling_of(const Json& config) {
  return {.modes = pooling_modes(config), .include_prompt = config.get_bool("include_prompt", true)};
}

DenseModule dense_of(const Json& config, const fs::path& folder) {
  const std::string path = config.get_string("activation_function", "torch.nn.modules.activation.Tanh");
  const std::string name = last_part(path);
  const bool is_known = path.starts_with("torch.nn.") && (name == kPRelu || is_torch_activation(name));
  if (!is_known)
    throw make_error(ErrorCode::unsupported, (folder / "config.json").string(), ": the activation_function '", path,
                     "' is not known here: ", path);
  return {.activation = name, .has_residual = config.get_bool("use_residual", false)};
}

std::size_t first_layer(const Json& config, const fs::path& folder) {
  const std::int64_t first = config.get_int("layer_start", 4);
  if (first < 0)
    throw make_error(ErrorCode::corrupt, (folder / "config.json").string(), ": layer_start is ", first,
                     ", which is no layer");
  return static_cast<std::size_t>(first);
}

// Modules that sentence-transformers has and that are not built here, with what they are.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kNotBuilt = {
    {{"WordEmbeddings", "embeds words without a transformer"},
     {"WordWeights", "weights the words of a table"},
     {"BoW", "counts words"},
     {"CNN", "convolves over tokens"},
     {"LSTM", "recurs over tokens"},
     {"CLIPModel", "embeds images and texts"},
     {"StaticEmbedding", "averages the vectors of a table"},
     {"SpladePooling", "makes sparse vectors"}}};

[[noreturn]] void refuse(std::string_view type, const fs::path& folder) {
  const auto* known = std::ranges::find(kNotBuilt, type, &std::pair<std::string_view, std::string_view>::first);
  const std::string_view what = known == kNotBuilt.end() ? "is not known here" : known->second;
  throw make_error(ErrorCode::unsupported, "modules.json has the module '", type, "' in '", folder.filename().string(),
                   "', which ", what, known == kNotBuilt.end() ? ": " : "; it is not built here: ", type);
}

}  // namespace

std::optional<Json> read_json(const fs::path& folder, std::string_view name) {
  const fs::path path = folder / name;
  if (!base::is_there(path)) return std::nullopt;
  return formats::parse_json(base::read_contained_file(folder, name, kMaxBytes), path.string());
}

std::string last_part(std::string_view dotted) { return std::string(dotted.substr(dotted.rfind('.') + 1)); }

bool is_cross_encoder(const fs::path& home) {
  const std::optional<Json> settings = read_json(home, "config_sentence_transformers.json");
  return settings && settings->get_string("model_type", "") == "CrossEncoder";
}

std::optional<ChainModule> read_chain_module(std::string_view type, const fs::path& folder) {
  if (type == "Dropout") return std::nullopt;
  const Json config = read_json(folder, "config.json").value_or(Json::Object{});
  ChainModule module{.folder = folder,
                     .input = config.get_string("module_input_name", kSentenceEmbedding),
                     .output = {},
                     .kind = NormalizeModule{}};
  module.output = config.get_string("module_output_name", module.input);
  if (type == "Pooling") {
    module.input = kTokenEmbeddings;
    module.output = kSentenceEmbedding;
    module.kind = pooling_of(config);
  } else if (type == "Dense") {
    module.kind = dense_of(config, folder);
  } else if (type == "WeightedLayerPooling") {
    module.input = kAllLayers;
    module.output = kTokenEmbeddings;
    module.kind = LayerPoolingModule{.first = first_layer(config, folder)};
  } else if (type == "LayerNorm") {
    module.input = module.output = kSentenceEmbedding;
    module.kind = LayerNormModule{};
  } else if (type != "Normalize") {
    refuse(type, folder);
  }
  return module;
}

}  // namespace alate::pipelines
