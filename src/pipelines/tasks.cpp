#include "pipelines/tasks.h"

#include <algorithm>
#include <cstdint>

#include "alate/error.h"
#include "base/files/contained_files.h"
#include "base/files/file_presence.h"
#include "formats/json.h"
#include "models/encoder.h"
#include "pipelines/rerank/rerank_rows.h"
#include "runtime/loading/model_files.h"

namespace alate::pipelines {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{64} << 20;

// As transformers counts them: the named ones, else num_labels, else two.
std::int64_t label_count(const formats::Json& config) {
  const formats::Json* names = config.find("id2label");
  if (names != nullptr && names->is_object()) return static_cast<std::int64_t>(names->as_object("id2label").size());
  return config.get_int("num_labels", 2);
}

// Of an architecture that is built here. Throws as models::find_head.
bool is_cross_encoder(const formats::Json& config) {
  const std::span<const models::Architecture> known = models::architectures();
  const auto found = std::ranges::find(known, config.get_string("model_type", ""), &models::Architecture::model_type);
  return found != known.end() && models::find_head(*found, config).name == kCrossEncoderHead &&
         label_count(config) == 1;
}

}  // namespace

std::string_view to_string(Task task) { return task == Task::rerank ? "rerank" : "embed"; }
std::string_view model_type(Task task) { return task == Task::rerank ? "reranker" : "embedder"; }
std::string_view description(Task task) {
  return task == Task::rerank ? "scores how well texts answer a query" : "turns texts into vectors";
}

std::vector<Task> tasks_of(const std::filesystem::path& folder, const LoadOptions& options) {
  try {
    const runtime::ModelFiles files = runtime::find_model_files(folder, options);
    const formats::Json config =
        formats::parse_json(base::read_contained_file(files.folder, "config.json", kMaxBytes), "config.json");
    if (files.is_onnx() || !is_cross_encoder(config)) return {Task::embed};
    if (base::is_there(files.home / "modules.json")) return {Task::embed, Task::rerank};
    return {Task::rerank};
  } catch (const Error&) {
    return {Task::embed};
  }
}

}  // namespace alate::pipelines
