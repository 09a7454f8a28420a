#include "pipelines/modules/modules.h"

#include <algorithm>
#include <utility>

#include "alate/error.h"
#include "formats/json.h"
#include "pipelines/modules/module_files.h"
#include "runtime/loading/model_form.h"

namespace alate::pipelines {
namespace {

using formats::Json;
using graph::PoolMode;

// As sentence-transformers pools a folder that has no modules: decoders read the whole text only at its last token.
PoolMode default_mode(const runtime::ModelFiles& files) {
  const Json config =
      files.is_gguf() ? runtime::read_config(files) : read_json(files.folder, "config.json").value_or(Json());
  if (const std::string stated = files.is_gguf() ? config.get_string("pooling", "") : ""; !stated.empty())
    return stated == "mean" ? PoolMode::mean : stated == "cls" ? PoolMode::cls : PoolMode::last;
  const Json* names = config.find("architectures");
  if (names == nullptr || !names->is_array() || names->as_array("architectures").empty()) return PoolMode::mean;
  const Json& name = names->as_array("architectures").front();
  const bool is_decoder = name.is_string() && name.as_string("architectures[0]").ends_with("ForCausalLM");
  return is_decoder && config.get_bool("is_causal", true) ? PoolMode::last : PoolMode::mean;
}

ChainModule pooling_by(PoolMode mode) {
  return {.folder = "pooling",
          .input = std::string(kTokenEmbeddings),
          .output = std::string(kSentenceEmbedding),
          .kind = PoolingModule{.modes = {mode}}};
}

// Whether the transformer gives the hidden states of all layers.
bool gives_all_layers(const runtime::ModelFiles& files) {
  const Json config = read_json(files.folder, "config.json").value_or(Json(Json::Object{}));
  return config.get_bool("output_hidden_states", false);
}

// Each module's input is there, and the vectors of texts are made.
void require_connected(const EmbeddingModules& modules) {
  const std::vector<std::string_view> made = require_inputs(modules.transformer, modules.chain);
  if (std::ranges::find(made, kSentenceEmbedding) == made.end())
    throw Error(ErrorCode::unsupported,
                "modules.json has no Pooling module, nor another that makes one vector of a "
                "text: Pooling");
  const auto excludes = [](const ChainModule& module) {
    const auto* pooling = std::get_if<PoolingModule>(&module.kind);
    return pooling != nullptr && !pooling->include_prompt;
  };
  const auto includes = [](const ChainModule& module) {
    const auto* pooling = std::get_if<PoolingModule>(&module.kind);
    return pooling != nullptr && pooling->include_prompt;
  };
  if (std::ranges::any_of(modules.chain, excludes) && std::ranges::any_of(modules.chain, includes))
    throw Error(ErrorCode::unsupported,
                "modules.json has Pooling modules with and without the prompt, which are not "
                "built together: include_prompt");
}

// Of the chains over this transformer that which texts without a task take, or the first, and the others.
void read_routes(const runtime::ModelFiles& files, const Json& json, EmbeddingModules& modules) {
  ModuleList list = read_module_list(files.home, json);
  const std::vector<std::size_t> places = chains_over(files.folder, list);
  if (places.empty())
    throw make_error(ErrorCode::corrupt, "modules.json has no chain over the Transformer in ", files.folder.string());
  std::size_t own = places.front();
  if (!list.routes.names.empty() && list.routes.has_default()) {
    const std::size_t usual = list.routes.place_of({});
    if (std::ranges::find(places, usual) != places.end()) own = usual;
  }
  const auto read = [&](std::size_t place, EmbeddingModules& of) {
    of.chain = read_chain(files, list.chains[place]);
    if (!list.routes.names.empty()) of.route = list.routes.names[place];
    require_connected(of);
  };
  for (const std::size_t place : places) {
    if (place == own) continue;
    EmbeddingModules& other = modules.others.emplace_back();
    other.transformer = modules.transformer;
    read(place, other);
  }
  read(own, modules);
  modules.routes = std::move(list.routes);
}

void read_settings(const Json& config, EmbeddingModules& modules) {
  static_cast<Prompts&>(modules) = read_prompts(config);
  const Json* similarity = config.find("similarity_fn_name");
  if (similarity != nullptr && similarity->is_string())
    modules.similarity = similarity->as_string("similarity_fn_name");
  if (const std::int64_t kept = config.get_int("truncate_dim", 0); kept > 0) {
    modules.kept_dimensions = static_cast<std::size_t>(kept);
  } else if (kept < 0) {
    throw make_error(ErrorCode::corrupt, "config_sentence_transformers.json: truncate_dim is ", kept,
                     ", which no vector has");
  }
}

}  // namespace

std::vector<ChainModule> read_chain(const runtime::ModelFiles& files, std::span<const ListedModule> listed) {
  if (listed.front().type != "Transformer")
    throw make_error(ErrorCode::unsupported, "modules.json begins with the module '", listed.front().type,
                     "', not with a Transformer: ", listed.front().type);
  std::vector<ChainModule> chain;
  for (const ListedModule& each : listed.subspan(1)) {
    if (each.type == kAutoEncoder && &each == &listed.back()) break;  // of kinds
    std::optional<ChainModule> module = read_chain_module(each.type, each.folder);
    if (!module) continue;
    // sentence-transformers passes by the module where the transformer keeps the layers' values for itself.
    if (std::holds_alternative<LayerPoolingModule>(module->kind) && !gives_all_layers(files)) continue;
    chain.push_back(*std::move(module));
  }
  return chain;
}

std::vector<std::string_view> require_inputs(const TransformerSettings& transformer,
                                             std::span<const ChainModule> chain) {
  std::vector<std::string_view> made = {transformer.output_name, kAllLayers};
  for (const ChainModule& module : chain) {
    if (std::ranges::find(made, module.input) == made.end())
      throw make_error(ErrorCode::unsupported, "modules.json: the module in '", module.folder.filename().string(),
                       "' reads ", formats::quoted_name(module.input),
                       ", which no module before it makes: ", module.input);
    made.push_back(module.output);
  }
  return made;
}

const EmbeddingModules& EmbeddingModules::for_task(std::string_view task) const {
  if (routes.names.empty()) return *this;
  const std::string& name = routes.names[routes.place_of(task)];
  const auto found = std::ranges::find(others, name, &EmbeddingModules::route);
  return found == others.end() ? *this : *found;
}

bool EmbeddingModules::normalizes() const {
  const auto last = std::find_if(chain.rbegin(), chain.rend(),
                                 [](const ChainModule& module) { return module.output == kSentenceEmbedding; });
  return last != chain.rend() && last->input == kSentenceEmbedding &&
         std::holds_alternative<NormalizeModule>(last->kind);
}

std::span<const PoolMode> EmbeddingModules::pooling() const {
  for (const ChainModule& module : chain) {
    if (const auto* pooling = std::get_if<PoolingModule>(&module.kind)) return pooling->modes;
  }
  return {};
}

bool EmbeddingModules::pools_prompt() const {
  return std::ranges::all_of(chain, [](const ChainModule& module) {
    const auto* pooling = std::get_if<PoolingModule>(&module.kind);
    return pooling == nullptr || pooling->include_prompt;
  });
}

void EmbeddingModules::set_pooling(Pooling given) {
  for (EmbeddingModules& other : others) other.set_pooling(given);
  bool found = false;
  for (ChainModule& module : chain) {
    if (auto* pooling = std::get_if<PoolingModule>(&module.kind)) {
      pooling->modes = {pool_mode(given)};
      found = true;
    }
  }
  if (!found)
    throw Error(ErrorCode::unsupported,
                "a pooling is asked for, but the model's modules.json has no Pooling module: "
                "Pooling");
}

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

EmbeddingModules read_modules(const runtime::ModelFiles& files, bool has_dense) {
  EmbeddingModules modules;
  modules.transformer = read_transformer_settings(files.folder);
  if (has_dense) require_dense_output(files.folder);
  if (const std::optional<Json> list = has_dense ? read_json(files.home, "modules.json") : std::nullopt) {
    read_routes(files, *list, modules);
  } else {
    modules.chain.push_back(pooling_by(default_mode(files)));
  }
  if (const std::optional<Json> config = read_json(files.home, "config_sentence_transformers.json"))
    read_settings(*config, modules);
  return modules;
}

}  // namespace alate::pipelines
