#include "pipelines/tasks.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "alate/error.h"
#include "base/files/file_presence.h"
#include "formats/json.h"
#include "models/encoder.h"
#include "models/heads/extractor.h"
#include "models/heads/gliner.h"
#include "pipelines/embed/module_files.h"
#include "pipelines/kinds/kind_modules.h"
#include "pipelines/rerank/score_tokens.h"
#include "runtime/loading/model_files.h"
#include "runtime/loading/model_form.h"

namespace alate::pipelines {
namespace {

// As transformers counts them: the named ones, else num_labels, else two.
std::int64_t label_count(const formats::Json& config) {
  const formats::Json* names = config.find("id2label");
  if (names != nullptr && names->is_object()) return static_cast<std::int64_t>(names->as_object("id2label").size());
  return config.get_int("num_labels", 2);
}

// The task of the head that config.json names; nothing for heads of other tasks. Throws as models::find_architecture
// and models::find_head.
std::optional<Task> task_of_head(const formats::Json& config, const std::filesystem::path& home) {
  const std::string_view head = models::find_head(models::find_architecture(config), config).name;
  if (head == kSequenceClassification) return label_count(config) == 1 ? Task::rerank : Task::classify;
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
constexpr std::array<TaskName, 7> kNames = {
    {{Task::embed, "embed", "embedder", "turns texts into vectors"},
     {Task::rerank, "rerank", "reranker", "scores how well texts answer a query"},
     {Task::classify, "classify", "classifier", "says which labels fit a text"},
     {Task::recognize, "recognize", "recognizer", "finds labelled places in a text"},
     {Task::answer, "answer", "answerer", "finds the answer to a question in a text"},
     {Task::fill, "fill", "filler", "finds tokens for the masks of a text"},
     {Task::extract, "extract", "extractor", "finds what a schema asks for in a text"}}};

const TaskName& names_of(Task task) { return *std::ranges::find(kNames, task, &TaskName::task); }

}  // namespace

std::string_view to_string(Task task) { return names_of(task).command; }
std::string_view model_type(Task task) { return names_of(task).model_type; }
std::string_view description(Task task) { return names_of(task).description; }

bool divides_texts(const formats::Json& config) {
  try {
    return models::find_head(models::find_architecture(config), config).name == kTokenClassification &&
           label_count(config) == 2;
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

bool is_cross_encoder(const std::filesystem::path& home) {
  const std::optional<formats::Json> settings = read_json(home, "config_sentence_transformers.json");
  return settings && settings->get_string("model_type", "") == "CrossEncoder";
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
