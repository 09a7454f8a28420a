#include "server/models/embed_task.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/embedding_kinds.h"
#include "pipelines/embed/embed_run.h"
#include "pipelines/embed/embedding_rows.h"
#include "pipelines/embed/kind_rows.h"
#include "runtime/loading/loaded_model.h"
#include "server/exchange/refuse.h"

namespace alate::server {
namespace {

constexpr std::size_t kMostTokenNumbers = std::size_t{4} << 20;  // some 50 MB of JSON
// Of weights of a whole vocabulary: 64 MiB until those that are 0 are left out.
constexpr std::size_t kMostWeights = std::size_t{16} << 20;

// Models without adapters know queries and documents; what else Jina's clients say of texts means nothing to them.
std::string task_of_jina(const EmbeddingPipeline& pipeline, const std::string& task) {
  if (!pipeline.state().model.state().form->adapters().empty()) return task;
  return task == "retrieval.query" ? "query" : task == "retrieval.passage" ? "document" : "";
}

// An error of the model's, as one of the request.
template <typename Step>
decltype(auto) or_refuse(std::string_view parameter, const Step& step) {
  try {
    return step();
  } catch (const Error& error) {
    refuse(Problem::Kind::impossible, error.message(), std::string(parameter));
  }
}

// Whether only dense vectors are asked for.
bool is_plain(const EmbedRequest& request) { return request.kinds == EmbeddingKinds::only(EmbeddingKind::dense); }

EmbedOptions options_of(const EmbedRequest& request, const EmbeddingPipeline& any) {
  EmbedOptions options;
  options.normalize = request.normalize;
  options.dimensions = request.dimensions;
  options.truncation_side = request.truncation_side;
  options.prompt = request.prompt;
  options.task = request.jina_task.empty() ? request.task : task_of_jina(any, request.jina_task);
  options.prompt_name = request.prompt_name;
  options.sparse_top_k = request.sparse_top_k;
  // A text that is too long is refused by ModelRequest::truncate.
  if (request.long_texts.treatment != LongTexts::error) options.long_texts = request.long_texts.treatment;
  options.stride = request.long_texts.stride;
  const EmbeddingPipeline& pipeline =
      or_refuse("task", [&]() -> const EmbeddingPipeline& { return pipelines::pipeline_for(any, options.task); });
  for (const std::string& name : request.prompt_names) {
    if (!options.prompt_name.empty() || options.prompt) break;
    if (pipeline.state().modules.prompts.contains(name)) options.prompt_name = name;
  }
  return options;
}

void check_options(const EmbedRequest& request, const EmbeddingPipeline& pipeline, const EmbedOptions& options) {
  if (!is_plain(request) || request.per_token) or_refuse("long", [&] { pipelines::require_no_windows(options); });
  or_refuse(is_plain(request) ? "model" : "kinds", [&] { pipelines::require_kinds(pipeline, request.kinds); });
  if (request.kinds.dense) or_refuse("dimensions", [&] { pipelines::kept_dimensions(pipeline, options); });
}

void check_ids(const EmbedRequest& request, const EmbeddingPipeline& pipeline) {
  const std::int64_t vocabulary = pipeline.model().state().limits().vocabulary;
  for (std::size_t i = 0; i < request.token_rows.size(); ++i) {
    const std::vector<std::int32_t>& row = request.token_rows[i];
    for (std::size_t j = 0; j < row.size(); ++j) {
      if (row[j] >= 0 && row[j] < vocabulary) continue;
      refuse(Problem::Kind::impossible,
             place_of_input(request, i) + "[" + std::to_string(j) + "] is " + std::to_string(row[j]) +
                 "; the model's token ids are 0 to " + std::to_string(vocabulary - 1),
             request.parameter);
    }
  }
}

std::unique_ptr<pipelines::EmbedRun> begin_embedding(EmbedRequest& request, const EmbeddingPipeline& any,
                                                     std::vector<std::string_view> texts) {
  const EmbedOptions options = options_of(request, any);
  const EmbeddingPipeline& pipeline = pipelines::pipeline_for(any, options.task);
  check_options(request, pipeline, options);
  check_ids(request, pipeline);
  return std::make_unique<pipelines::EmbedRun>(
      pipeline,
      pipelines::EmbedInputs{.texts = std::move(texts), .rows = std::move(request.token_rows), .frames_rows = true},
      options, request.kinds,
      request.per_token ? pipelines::EmbedRun::Vectors::of_tokens : pipelines::EmbedRun::Vectors::of_texts);
}

// How much is computed: the numbers of tokens, and those of weights of a whole vocabulary.
void check_numbers(const pipelines::TaskRun& run, const std::string& parameter, bool per_token) {
  const auto program = static_cast<const pipelines::EmbedRun&>(run).entry_point();
  const std::size_t per_token_numbers = program->numbers_per_token();
  if (per_token) {
    if (per_token_numbers > 0 && run.tokens() > kMostTokenNumbers / per_token_numbers)
      refuse(Problem::Kind::too_many,
             "the answer would have " + std::to_string(run.tokens()) + " vectors of " +
                 std::to_string(per_token_numbers) + " numbers; at most " + std::to_string(kMostTokenNumbers) +
                 " numbers are sent: send less at a time",
             "inputs");
    return;
  }
  const std::size_t of_tokens = run.tokens() * per_token_numbers, of_rows = run.size() * program->numbers_per_row();
  if (of_tokens > kMostTokenNumbers || of_rows > kMostWeights)
    refuse(Problem::Kind::too_many,
           "the embeddings are made of " + std::to_string(of_rows) + " numbers of texts and " +
               std::to_string(of_tokens) + " of tokens; at most " + std::to_string(kMostWeights) + " and " +
               std::to_string(kMostTokenNumbers) + " are computed: send less at a time",
           parameter);
}

EmbedAnswer answer_of(TaskAnswer& task, const EmbedRequest& request) {
  auto& run = static_cast<pipelines::EmbedRun&>(*task.run);
  EmbedAnswer answer;
  answer.rows = run.size();
  if (request.kinds.dense) answer.dimensions = run.dimensions();
  if (is_plain(request)) {
    answer.vectors = run.take_vectors();
  } else {
    KindEmbeddings made = run.take_embeddings();
    answer.sparse = std::move(made.sparse);
    answer.multi_vectors = std::move(made.multi_vectors);
    if (request.kinds.dense)
      answer.vectors.assign(made.dense.values<float>().begin(), made.dense.values<float>().end());
  }
  static_cast<ModelAnswer&>(answer) = std::move(static_cast<ModelAnswer&>(task));
  return answer;
}

}  // namespace

void embed(Call& call, EmbedRequest request, std::function<Response(EmbedAnswer)> format) {
  TaskRequest task = std::move(static_cast<TaskRequest&>(request));
  task.other_inputs = request.token_rows.size();
  task.quotes_texts = false;
  task.is_quick_to_answer = true;
  if (request.per_token || !is_plain(request)) {
    task.check = [parameter = task.parameter, per_token = request.per_token](const pipelines::TaskRun& run) {
      check_numbers(run, parameter, per_token);
    };
  }
  request.parameter = task.parameter;
  const auto wishes = std::make_shared<EmbedRequest>(std::move(request));
  run_task(
      call, std::move(task),
      [wishes](const pipelines::TaskPipelines& pipelines, std::vector<std::string_view> texts) {
        return begin_embedding(*wishes, pipelines.embedding(), std::move(texts));
      },
      [wishes, format = std::move(format)](TaskAnswer& answer) { return format(answer_of(answer, *wishes)); });
}

std::size_t kind_bytes(const EmbedAnswer& answer) {
  std::size_t bytes = 0;
  for (const SparseEmbedding& sparse : answer.sparse)
    bytes += sparse.indices.capacity() * sizeof(std::int32_t) + sparse.values.capacity() * sizeof(float);
  for (const Tensor& vectors : answer.multi_vectors) bytes += vectors.byte_count();
  return bytes;
}

VectorRows take_vectors(EmbedAnswer& answer) { return {std::move(answer.vectors), answer.rows, answer.dimensions}; }

}  // namespace alate::server
