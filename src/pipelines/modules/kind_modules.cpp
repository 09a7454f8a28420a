#include "pipelines/modules/kind_modules.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "base/files/contained_files.h"
#include "base/files/file_presence.h"
#include "formats/json.h"
#include "pipelines/modules/kind_files.h"
#include "pipelines/modules/late_interaction_modules.h"
#include "pipelines/modules/module_files.h"
#include "runtime/loading/model_files.h"

namespace alate::pipelines {
namespace {

using formats::Json;

constexpr std::string_view kStaticWeights = "SparseStaticEmbedding";

// `value` is one of two.
bool is_second(std::string_view key, std::string_view value, std::string_view first, std::string_view second) {
  if (value == second) return true;
  if (value == first) return false;
  throw make_error(ErrorCode::unsupported, "the SpladePooling module's ", key, " is ", formats::quoted_name(value),
                   ", neither ", first, " nor ", second, ": ", value);
}

SpladeModule read_splade(const std::filesystem::path& folder) {
  const Json config = read_json(folder, "config.json").value_or(Json(Json::Object{}));
  return {.sums = is_second("pooling_strategy", config.get_string("pooling_strategy", "max"), "max", "sum"),
          .takes_log_twice =
              is_second("activation_function", config.get_string("activation_function", "relu"), "relu", "log1p_relu")};
}

bool names_language_model(const Json& config) {
  const Json* names = config.find("architectures");
  if (names == nullptr || !names->is_array() || names->as_array("architectures").empty()) return false;
  const Json& first = names->as_array("architectures")[0];
  return first.is_string() && first.as_string("architectures[0]").ends_with("ForMaskedLM");
}

void require_language_model(const std::filesystem::path& folder) {
  if (const std::optional<Json> config = read_json(folder, "config.json"); config && !names_language_model(*config))
    throw make_error(ErrorCode::unsupported, "modules.json has the module 'SpladePooling', which needs logits of the ",
                     "vocabulary, but config.json's architectures names no class …ForMaskedLM: SpladePooling");
}

AutoEncoderModule read_autoencoder(const std::filesystem::path& folder) {
  const Json config = read_json(folder, "config.json").value_or(Json(Json::Object{}));
  const std::int64_t kept = config.get_int("k", 8);
  if (kept < 1)
    throw make_error(ErrorCode::corrupt, (folder / "config.json").string(), ": k is ", kept, "; it is at least 1");
  return {.folder = folder, .kept = static_cast<std::size_t>(kept), .normalizes = config.get_bool("normalize", false)};
}

using Chain = std::vector<ListedModule>;

bool is_sparse(const Chain& chain) {
  return std::ranges::any_of(chain, [](const ListedModule& module) {
    return module.type == "SpladePooling" || module.type == kStaticWeights || module.type == kAutoEncoder;
  });
}

SpladeModule read_splade_chain(const Chain& chain) {
  const bool begins = chain[0].type == "MLMTransformer" || chain[0].type == "Transformer";
  if (chain.size() != 2 || chain[1].type != "SpladePooling" || !begins)
    throw make_error(ErrorCode::unsupported, "modules.json has ", chain.size(), " modules, ending with '",
                     chain.back().type, "'; a SpladePooling is built only as the second and last one, after a ",
                     "Transformer or MLMTransformer: ", "SpladePooling");
  require_language_model(chain[0].folder);
  return read_splade(chain[1].folder);
}

// The routes of a Router over a transformer: SPLADE, or weights of a table.
KindModules read_sparse_routes(const ModuleList& list, const std::filesystem::path& transformer) {
  KindModules modules;
  modules.is_dense = false;
  modules.routes = list.routes;
  StaticWeightsModule table;
  for (const std::size_t route : chains_over(transformer, list)) {
    const Chain& chain = list.chains[route];
    if (chain.size() != 1 || chain[0].type != kStaticWeights) {
      const SpladeModule splade = read_splade_chain(chain);
      if (!modules.splade) modules.splade = splade;
      if (!list.routes.names.empty()) modules.splades.emplace(list.routes.names[route], splade);
      continue;
    }
    if (!table.folder.empty() && table.folder != chain[0].folder)
      throw make_error(ErrorCode::unsupported, "modules.json has several modules of static weights: ", kStaticWeights);
    table.folder = chain[0].folder;
    if (!list.routes.names.empty()) table.reached.push_back(list.routes.names[route]);
  }
  if (!modules.splade)
    throw make_error(ErrorCode::unsupported, "modules.json has no encoder beside the module '", kStaticWeights,
                     "', which is built for queries only: ", kStaticWeights);
  modules.splade = modules.splade_for({});
  if (table.folder.empty()) return modules;
  const Json config = read_json(table.folder, "config.json").value_or(Json(Json::Object{}));
  if (const std::string path = config.get_string("path", ""); !path.empty())
    throw make_error(ErrorCode::unsupported, (table.folder / "config.json").string(), " takes the weights from '", path,
                     "', and not from its folder: ", kStaticWeights);
  modules.static_weights = std::move(table);
  return modules;
}

std::optional<KindModules> read_sparse_chain(const std::filesystem::path& folder, const Json& json,
                                             std::filesystem::path transformer) {
  const ModuleList list = read_module_list(folder, json);
  if (std::ranges::none_of(list.chains, is_sparse)) return std::nullopt;
  if (transformer.empty()) transformer = runtime::transformer_folders(folder).front();
  const auto ends_in_codes = [](const Chain& chain) { return chain.back().type == kAutoEncoder; };
  if (std::ranges::none_of(list.chains, ends_in_codes)) return read_sparse_routes(list, transformer);
  const std::filesystem::path& last = list.chains.front().back().folder;
  const bool is_one = std::ranges::all_of(
      list.chains, [&](const Chain& chain) { return ends_in_codes(chain) && chain.back().folder == last; });
  if (!is_one)
    throw make_error(ErrorCode::unsupported, "modules.json has routes that do not end in the same module '",
                     kAutoEncoder, "': ", kAutoEncoder);
  KindModules modules;
  modules.is_dense = false;
  modules.autoencoder = read_autoencoder(last);
  return modules;
}

// The file of a layer that bge-m3 keeps beside the encoder.
std::optional<LayerFile> find_layer(const std::filesystem::path& folder, const std::string& name) {
  for (const std::string_view extension : {".safetensors", ".pt"}) {
    const std::filesystem::path file = folder / (name + std::string(extension));
    if (!base::is_there(file)) continue;
    base::ContainedFiles(folder).require_file(file);
    return LayerFile{file};
  }
  return std::nullopt;
}

std::vector<std::string> special_tokens(const std::filesystem::path& folder) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kRoles = {
      {{"cls_token", "<s>"}, {"eos_token", "</s>"}, {"pad_token", "<pad>"}, {"unk_token", "<unk>"}}};
  const Json config = read_json(folder, "tokenizer_config.json").value_or(Json(Json::Object{}));
  std::vector<std::string> tokens;
  for (const auto& [role, otherwise] : kRoles) tokens.push_back(special_token(config, role, otherwise));
  return tokens;
}

}  // namespace

bool KindModules::is_static(std::string_view task) const {
  // Before a task is known, what is loaded is the encoder.
  if (!static_weights || (task.empty() && !routes.has_default())) return false;
  const std::string& route = routes.names[routes.place_of(task)];
  return std::ranges::find(static_weights->reached, route) != static_weights->reached.end();
}

const SpladeModule& KindModules::splade_for(std::string_view task) const {
  if (routes.names.empty() || (task.empty() && !routes.has_default())) return *splade;
  const auto found = splades.find(routes.names[routes.place_of(task)]);
  return found == splades.end() ? *splade : found->second;
}

KindModules read_kind_modules(const std::filesystem::path& folder, const std::filesystem::path& transformer) {
  KindModules modules;
  modules.late_interaction = read_late_interaction(folder);
  if (modules.late_interaction) {
    modules.is_dense = false;
    return modules;
  }
  if (const std::optional<Json> list = read_json(folder, "modules.json")) {
    if (std::optional<KindModules> sparse = read_sparse_chain(folder, *list, transformer)) return *std::move(sparse);
  } else if (const std::optional<Json> config = read_json(folder, "config.json");
             config && names_language_model(*config)) {
    modules.splade = SpladeModule{};
  }
  if (std::optional<LayerFile> layer = find_layer(folder, "sparse_linear")) {
    modules.splade.reset();
    modules.token_weights = {.layer = *std::move(layer), .left_out = special_tokens(folder)};
  }
  if (std::optional<LayerFile> layer = find_layer(folder, "colbert_linear"))
    modules.token_vectors = {.layer = *std::move(layer)};
  return modules;
}

}  // namespace alate::pipelines
