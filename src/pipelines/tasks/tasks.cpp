#include "pipelines/tasks/tasks.h"

#include <algorithm>
#include <array>
#include <optional>

#include "alate/error.h"
#include "base/files/file_presence.h"
#include "formats/json.h"
#include "models/encoder.h"
#include "models/heads/extractor.h"
#include "models/heads/gliner.h"
#include "pipelines/modules/kind_modules.h"
#include "pipelines/modules/module_files.h"
#include "pipelines/modules/score_modules.h"
#include "pipelines/modules/score_tokens.h"
#include "pipelines/tasks/label_names.h"
#include "pipelines/tasks/task_head.h"
#include "runtime/loading/model_files.h"
#include "runtime/loading/model_form.h"

namespace alate::pipelines {
namespace {

// The task of the head that config.json names; nothing for heads of other tasks. Throws as models::find_architecture
// and models::find_head.
std::optional<Task> task_of_head(const formats::Json& config, const std::filesystem::path& home) {
  const std::string_view head = models::find_head(models::find_architecture(config), config).name;
  if (head == kSequenceClassification) return stated_label_count(config) == 1 ? Task::rerank : Task::classify;
  if (head == kTokenClassification || head == models::kGlinerHead) return Task::recognize;
  if (head == kRanking) return Task::rerank;
  if (head == models::kExtractorHead) return Task::extract;
  if (head == kQuestionAnswering) return Task::answer;
  if (head == kMaskedLanguage) return Task::fill;
  return head == kLanguageModel && is_marked_reranker(home) ? std::optional(Task::rerank) : std::nullopt;
}

struct TaskName {
  Task task;
  std::string_view command, model_type, description;
};
constexpr std::array<TaskName, 8> kNames = {
    {{Task::embed, "embed", "embedder", "turns texts into vectors"},
     {Task::rerank, "rerank", "reranker", "scores how well texts answer a query"},
     {Task::classify, "classify", "classifier", "says which labels fit a text"},
     {Task::recognize, "recognize", "recognizer", "finds labelled places in a text"},
     {Task::answer, "answer", "answerer", "finds the answer to a question in a text"},
     {Task::fill, "fill", "filler", "finds tokens for the masks of a text"},
     {Task::extract, "extract", "extractor", "finds what a schema asks for in a text"},
     {Task::generate, "generate", "generator", "writes how a text goes on"}}};

constexpr std::string_view kForced = "or force it: --force of embed and index";

const TaskName& names_of(Task task) { return *std::ranges::find(kNames, task, &TaskName::task); }

}  // namespace

std::string_view to_string(Task task) { return names_of(task).command; }
std::string_view model_type(Task task) { return names_of(task).model_type; }
std::string_view description(Task task) { return names_of(task).description; }

bool is_marked_reranker(const std::filesystem::path& home) {
  if (is_cross_encoder(home) || has_logit_score(home)) return true;
  const std::optional<formats::Json> manifest = read_json(home, "model_manifest.json");
  return manifest && manifest->is_object() && manifest->get_string("type", "") == model_type(Task::rerank);
}

bool is_bare_language_model(const std::filesystem::path& folder, const LoadOptions& options) {
  try {
    const runtime::ModelFiles files = runtime::find_model_files(folder, options);
    if (files.is_onnx() || base::is_there(files.home / "modules.json") || is_marked_reranker(files.home)) return false;
    const formats::Json config = runtime::read_config(files);
    if (!models::gives_next_token(models::find_head(models::find_architecture(config), config).name)) return false;
    const std::optional<formats::Json> manifest = read_json(files.home, "model_manifest.json");
    if (files.is_gguf() && config.find("pooling") != nullptr) return false;
    const bool is_embedder = manifest && manifest->get_string("type", "") == model_type(Task::embed);
    return !is_embedder && config.get_bool("is_causal", true);
  } catch (const Error&) {
    return false;
  }
}

ModelPurpose purpose_of(const std::filesystem::path& folder) {
  if (is_bare_language_model(folder)) return {.type = std::string(model_type(Task::generate)), .capabilities = {}};
  const std::vector<Task> tasks = tasks_of(folder);
  ModelPurpose purpose{.type = std::string(model_type(tasks.front())), .capabilities = {}};
  for (const Task task : tasks) purpose.capabilities.emplace_back(to_string(task));
  return purpose;
}

Error bare_language_model_error(const std::filesystem::path& folder) {
  return make_error(ErrorCode::unsupported, "the model '", runtime::shown_name(folder),
                    "' is a language model: its folder has no modules.json, which would say how it embeds; name a "
                    "model for embedding, ",
                    kForced, ": ", kLanguageModel);
}

void require_embedder(const std::filesystem::path& folder, const LoadOptions& options, bool states_pooling) {
  const std::vector<Task> tasks = tasks_of(folder, options);
  if (std::ranges::find(tasks, Task::embed) == tasks.end())
    throw make_error(ErrorCode::unsupported, "the model '", runtime::shown_name(folder), "' is ",
                     task_head(tasks.front()).noun, ": it ", description(tasks.front()),
                     ", and is not for vectors; name a model for embedding, ask this one to ", to_string(tasks.front()),
                     ", ", kForced, ": ", model_type(tasks.front()));
  if (!states_pooling && is_bare_language_model(folder, options)) throw bare_language_model_error(folder);
}

bool divides_texts(const formats::Json& config) {
  try {
    return models::find_head(models::find_architecture(config), config).name == kTokenClassification &&
           stated_label_count(config) == 2;
  } catch (const Error&) {
    return false;
  }
}

bool divides_texts(const std::filesystem::path& folder, const LoadOptions& options) {
  try {
    const runtime::ModelFiles files = runtime::find_model_files(folder, options);
    return !files.is_onnx() && divides_texts(runtime::read_config(files));
  } catch (const Error&) {
    return false;
  }
}

EmbeddingKinds kinds_of(const std::filesystem::path& folder, const LoadOptions& options) {
  try {
    return read_kind_modules(runtime::find_model_files(folder, options).home).kinds();
  } catch (const Error&) {
    return {};
  }
}

bool gives_token_vectors(const std::filesystem::path& folder, const LoadOptions& options) {
  return kinds_of(folder, options).multi_vector;
}

std::vector<Task> tasks_of(const std::filesystem::path& folder, const LoadOptions& options) {
  try {
    const runtime::ModelFiles files = runtime::find_model_files(folder, options);
    const formats::Json config = runtime::read_config(files);
    if (const auto modules = read_score_modules(files)) return {modules->labels == 1 ? Task::rerank : Task::classify};
    std::optional<Task> task = files.is_onnx() ? std::nullopt : task_of_head(config, files.home);
    if (task == Task::fill) {
      if (!base::is_there(files.home / "modules.json")) return {Task::embed, Task::fill};
      task.reset();
    }
    if (!task && gives_token_vectors(folder, options)) return {Task::embed, Task::rerank};
    if (!task) return {Task::embed};
    const bool gives_vectors =
        base::is_there(files.home / "modules.json") && !is_cross_encoder(files.home) && !has_logit_score(files.home);
    if (gives_vectors) return {Task::embed, *task};
    if (task == Task::extract) return {Task::extract, Task::recognize};
    return {*task};
  } catch (const Error&) {
    return {Task::embed};
  }
}

}  // namespace alate::pipelines
