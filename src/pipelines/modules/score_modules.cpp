#include "pipelines/modules/score_modules.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <variant>

#include "alate/error.h"
#include "formats/json.h"
#include "pipelines/modules/embedding_graph.h"
#include "pipelines/modules/module_files.h"
#include "pipelines/modules/module_list.h"

namespace alate::pipelines {
namespace {

using formats::Json;

// The modules of a CrossEncoder, the transformer first; empty: its folder has none but the transformer, or a
// LogitScore.
std::vector<ListedModule> modules_of(const runtime::ModelFiles& files) {
  if (files.is_onnx() || !is_cross_encoder(files.home)) return {};
  const std::optional<Json> json = read_json(files.home, "modules.json");
  if (!json) return {};
  ModuleList list = read_module_list(files.home, *json);
  if (!list.routes.names.empty())
    throw Error(ErrorCode::unsupported,
                "modules.json of a cross-encoder has a Router, which is not built here: Router");
  std::vector<ListedModule>& chain = list.chains.front();
  const bool judges = std::ranges::find(chain, "LogitScore", &ListedModule::type) != chain.end();
  return judges || chain.size() == 1 ? std::vector<ListedModule>() : std::move(chain);
}

// As many as sentence-transformers counts: what the last Dense module for scores gives.
std::int64_t label_count(std::span<const ChainModule> chain) {
  for (auto module = chain.rbegin(); module != chain.rend(); ++module) {
    if (module->output != kScores || !std::holds_alternative<DenseModule>(module->kind)) continue;
    const std::optional<Json> config = read_json(module->folder, "config.json");
    return config ? config->get_int("out_features", 1) : 1;
  }
  throw Error(ErrorCode::unsupported,
              "modules.json of a cross-encoder has no Dense module with the output \"scores\": module_output_name");
}

}  // namespace

std::shared_ptr<const ScoreModules> read_score_modules(const runtime::ModelFiles& files) {
  const std::vector<ListedModule> listed = modules_of(files);
  if (listed.empty()) return nullptr;
  ScoreModules modules{.transformer = read_transformer_settings(files.folder), .chain = read_chain(files, listed)};
  require_dense_output(files.folder);
  require_inputs(modules.transformer, modules.chain);
  modules.labels = label_count(modules.chain);
  return std::make_shared<const ScoreModules>(std::move(modules));
}

graph::Value score_value(graph::Builder& b, const models::EncoderInputs& in, const models::BuiltEncoder& built,
                         const ScoreModules& modules) {
  return chain_value(b, in, built, modules.transformer, modules.chain, kScores);
}

runtime::Head score_head(std::shared_ptr<const ScoreModules> modules) {
  return [modules = std::move(modules)](graph::Builder& b, const models::EncoderInputs& in,
                                        const models::BuiltEncoder& built) {
    b.output("logits", score_value(b, in, built, *modules));
  };
}

std::shared_ptr<const runtime::EntryPoint> score_entry_point(const Model::State& model,
                                                             std::shared_ptr<const ScoreModules> modules) {
  return model.entry_point("classify", score_head(std::move(modules)), models::HeadChoice::none);
}

}  // namespace alate::pipelines
