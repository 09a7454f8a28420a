#include "pipelines/rerank/rerank_settings.h"

#include <optional>

#include "base/log.h"
#include "formats/json.h"
#include "pipelines/modules/module_files.h"

namespace alate::pipelines {
namespace {

using formats::Json;

const Json* text_member(const Json* object, std::string_view name) {
  if (object == nullptr || !object->is_object()) return nullptr;
  const Json* value = object->find(name);
  return value != nullptr && value->is_string() ? value : nullptr;
}

// The dotted name of the function: of the newest place that has one.
std::string activation_name(const Json* settings, const Json& config) {
  if (const Json* name = text_member(settings, "activation_fn")) return name->as_string("activation_fn");
  if (const Json* name = text_member(config.find("sentence_transformers"), "activation_fn"))
    return name->as_string("activation_fn");
  if (const Json* name = text_member(&config, "sbert_ce_default_activation_function"))
    return name->as_string("sbert_ce_default_activation_function");
  return {};
}

}  // namespace

RerankSettings read_rerank_settings(const Model::State& model) {
  RerankSettings settings;
  const std::optional<Json> file = read_json(model.folder, "config_sentence_transformers.json");
  if (file) settings.prompts = read_prompts(*file);
  const std::string name = activation_name(file ? &*file : nullptr, model.config);
  if (name.starts_with("torch.")) {
    settings.activation = last_part(name);
  } else if (!name.empty()) {
    base::log(base::LogLevel::warn, "the model's activation_fn is code of its own; its scores are taken as sigmoids",
              {{"activation_fn", name}},
              "the model's activation_fn (" + name +
                  ") is code of its own, which is not run: its scores are taken as "
                  "sigmoids");
  }
  return settings;
}

}  // namespace alate::pipelines
