#include "pipelines/modules/score_tokens.h"

#include <string>
#include <string_view>
#include <vector>

#include "alate/error.h"
#include "formats/json.h"
#include "pipelines/modules/kind_files.h"
#include "pipelines/modules/model_class.h"
#include "pipelines/modules/module_files.h"

namespace alate::pipelines {
namespace {

namespace fs = std::filesystem;
using formats::Json;

// The entry of modules.json.
std::optional<ModuleEntry> find_logit_score(const fs::path& home) {
  const std::optional<Json> list = read_json(home, "modules.json");
  if (!list) return std::nullopt;
  for (const ModuleEntry& entry : entries_of(*list)) {
    if (entry.type == "LogitScore") return entry;
  }
  return std::nullopt;
}

std::int32_t checked(std::int64_t id, const Model::State& model, std::string_view key) {
  if (id >= 0 && id < model.limits().vocabulary) return static_cast<std::int32_t>(id);
  throw make_error(ErrorCode::corrupt, "LogitScore: ", key, " is ", id, ", and the model has ",
                   model.limits().vocabulary, " tokens");
}

std::int32_t id_of_word(const Tokenizer& tokenizer, std::string_view word, const Model::State& model) {
  const std::optional<std::int32_t> id = tokenizer.token_to_id(word);
  if (id) return checked(*id, model, word);
  throw make_error(
      ErrorCode::unsupported, "the model '", runtime::shown_name(model.folder),
      "' is a language model, which reranks by the tokens \"yes\" and \"no\"; its tokenizer lacks one, and "
      "its folder has no LogitScore that names others: ",
      word);
}

}  // namespace

bool is_language_model(const Model::State& model) {
  return model.form->architecture() != nullptr && class_of(model).ends_with(kLanguageModel);
}

bool has_logit_score(const fs::path& home) { return find_logit_score(home).has_value(); }

ScoreTokens read_score_tokens(const Model::State& model, const Tokenizer& tokenizer) {
  const std::optional<ModuleEntry> entry = find_logit_score(model.folder);
  if (!entry) return {.yes = id_of_word(tokenizer, "yes", model), .no = id_of_word(tokenizer, "no", model)};
  const fs::path folder = runtime::module_folder(model.folder, entry->path);
  const std::optional<Json> config = read_json(folder, "config.json");
  if (!config) throw Error(ErrorCode::not_found, "LogitScore has no config.json, which names its tokens");
  ScoreTokens tokens{.yes = checked(config->get_int("true_token_id", -1), model, "true_token_id"), .no = {}};
  if (const Json* no = config->find_value("false_token_id"))
    tokens.no = checked(no->as_int("false_token_id"), model, "false_token_id");
  return tokens;
}

}  // namespace alate::pipelines
