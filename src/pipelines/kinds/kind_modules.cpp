#include "pipelines/kinds/kind_modules.h"

#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "alate/error.h"
#include "base/files/contained_files.h"
#include "base/files/file_presence.h"
#include "formats/json.h"
#include "pipelines/embed/module_files.h"
#include "pipelines/kinds/kind_files.h"
#include "pipelines/kinds/late_interaction_modules.h"
#include "runtime/loading/model_files.h"

namespace alate::pipelines {
namespace {

using formats::Json;

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

// Modules of sparse models that are not built here.
void refuse_unknown(const std::vector<ModuleEntry>& entries) {
  static constexpr std::array<std::string_view, 2> kNotBuilt = {"SparseAutoEncoder", "SparseStaticEmbedding"};
  for (const ModuleEntry& entry : entries) {
    for (const std::string_view name : kNotBuilt) {
      if (entry.type == name)
        throw make_error(ErrorCode::unsupported, "modules.json has the module '", name,
                         "', which is not built here; of sparse modules, SpladePooling is: ", name);
    }
  }
}

std::optional<KindModules> read_sparse_chain(const std::filesystem::path& folder,
                                             const std::vector<ModuleEntry>& entries) {
  refuse_unknown(entries);
  std::size_t place = 0;
  while (place < entries.size() && entries[place].type != "SpladePooling") ++place;
  if (place == entries.size()) return std::nullopt;
  const bool begins = entries[0].type == "MLMTransformer" || entries[0].type == "Transformer";
  if (place != 1 || entries.size() != 2 || !begins)
    throw make_error(
        ErrorCode::unsupported, "modules.json has ", entries.size(), " modules, and a SpladePooling at place ", place,
        "; it is built only as the second and last one, after a Transformer or MLMTransformer: ", "SpladePooling");
  if (!entries[0].path.empty() && entries[0].path != ".")
    throw make_error(ErrorCode::unsupported, "modules.json has the ", entries[0].type, " in a folder of its own, ",
                     formats::quoted_name(entries[0].path), ": ", entries[0].type);
  require_language_model(folder);
  KindModules modules;
  modules.is_dense = false;
  modules.splade = read_splade(runtime::module_folder(folder, entries[1].path));
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

KindModules read_kind_modules(const std::filesystem::path& folder) {
  KindModules modules;
  modules.late_interaction = read_late_interaction(folder);
  if (modules.late_interaction) {
    modules.is_dense = false;
    return modules;
  }
  if (const std::optional<Json> list = read_json(folder, "modules.json")) {
    if (std::optional<KindModules> sparse = read_sparse_chain(folder, entries_of(*list))) return *std::move(sparse);
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
