#include "server/models/embed_service.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "alate/embedding_kinds.h"
#include "formats/json.h"
#include "pipelines/embed/embedding_rows.h"
#include "pipelines/embed/vector_precision.h"
#include "pipelines/embed/window_means.h"
#include "pipelines/kinds/kind_rows.h"
#include "server/exchange/refuse.h"
#include "server/models/request_tokens.h"

namespace alate::server {
namespace {

constexpr std::size_t kMostTokenNumbers = std::size_t{4} << 20;  // some 50 MB of JSON
// Of weights of a whole vocabulary: 64 MiB until those that are 0 are left out.
constexpr std::size_t kMostWeights = std::size_t{16} << 20;

class Embedding final : public ModelCall {
 public:
  Embedding(Call& call, EmbedRequest request, std::function<Response(EmbedAnswer)> format)
      : ModelCall(call), request_(std::move(request)), format_(std::move(format)) {}

 private:
  const ModelRequest& request() const override { return request_; }
  ModelAnswer& answer() override { return answer_; }
  // Throws RequestError if the model does not embed.
  const EmbeddingPipeline& hosted() const {
    try {
      return answer_.model->pipelines.embedding();
    } catch (const Error& error) {
      refuse(Problem::Kind::impossible, error.message(), "model");
    }
  }
  // That of the texts' task. Throws RequestError if the model has no route for it.
  const EmbeddingPipeline& pipeline() const {
    const EmbeddingPipeline& any = hosted();
    try {
      return pipelines::pipeline_for(any, options_.task);
    } catch (const Error& error) {
      refuse(Problem::Kind::impossible, error.message(), "task");
    }
  }

  std::size_t input_count() const override { return std::max(request_.texts.size(), request_.token_rows.size()); }

  void accept() override {
    options_.normalize = request_.normalize;
    options_.dimensions = request_.dimensions;
    options_.truncation_side = request_.truncation_side;
    options_.prompt = request_.prompt;
    options_.task = request_.jina_task.empty() ? request_.task : task_of_jina();
    options_.prompt_name = request_.prompt_name;
    const auto& prompts = pipeline().state().modules.prompts;
    for (const std::string& name : request_.prompt_names) {
      if (!options_.prompt_name.empty() || options_.prompt) break;
      if (prompts.contains(name)) options_.prompt_name = name;
    }
    options_.sparse_top_k = request_.sparse_top_k;
    options_.long_texts = request_.long_texts.treatment;
    options_.stride = request_.long_texts.stride;
    if (!is_plain() || request_.per_token) {
      try {
        pipelines::require_no_windows(options_);
      } catch (const Error& error) {
        refuse(Problem::Kind::impossible, error.message(), "long");
      }
    }
    try {
      pipelines::require_kinds(pipeline(), request_.kinds);
    } catch (const Error& error) {
      refuse(Problem::Kind::impossible, error.message(), is_plain() ? "model" : "kinds");
    }
    if (!request_.kinds.dense) return;
    try {
      pipelines::kept_dimensions(pipeline(), options_);
    } catch (const Error& error) {
      refuse(Problem::Kind::impossible, error.message(), "dimensions");
    }
  }

  // Models without adapters know queries and documents; what else Jina's clients say of texts means nothing to them.
  std::string task_of_jina() const {
    if (!hosted().state().model.state().form->adapters().empty()) return request_.jina_task;
    return request_.jina_task == "retrieval.query"     ? "query"
           : request_.jina_task == "retrieval.passage" ? "document"
                                                       : "";
  }

  // Whether only dense vectors are asked for.
  bool is_plain() const { return request_.kinds == EmbeddingKinds::only(EmbeddingKind::dense); }

  pipelines::PreparedRows prepare() override {
    pipelines::PreparedRows prepared = prepare_request(pipeline(), request_, options_, cancellation());
    answer_.rows = prepared.inputs.empty() ? prepared.rows.size() : prepared.inputs.back() + 1;
    inputs_ = prepared.inputs;
    weights_ = prepared.weights;
    if (!is_plain()) {
      for (const runtime::BatchRow& row : prepared.rows) ids_.push_back(row.ids);
    }
    return prepared;
  }

  std::string excess() const override { return pipelines::embedding_excess(pipeline(), options_); }

  std::shared_ptr<const runtime::BatchProgram> program() override {
    std::vector<std::string>().swap(request_.texts);
    std::vector<std::vector<std::int32_t>>().swap(request_.token_rows);
    const EmbeddingPipeline::State& state = pipeline().state();
    if (!is_plain()) return kind_program();
    if (!request_.per_token) return state.entry_point(pipelines::normalizes(pipeline(), options_), options_.task);
    std::shared_ptr<const runtime::EntryPoint> tokens = state.token_entry_point();
    const std::size_t width = tokens->width().token;
    if (width > 0 && answer_.tokens > kMostTokenNumbers / width) {
      refuse(Problem::Kind::too_many,
             "the answer would have " + std::to_string(answer_.tokens) + " vectors of " + std::to_string(width) +
                 " numbers; at most " + std::to_string(kMostTokenNumbers) + " numbers are sent: send less at a time",
             "inputs");
    }
    return tokens;
  }

  std::shared_ptr<const runtime::BatchProgram> kind_program() {
    reader_.emplace(pipeline(), request_.kinds, options_);
    const runtime::RowWidth width = reader_->entry_point()->width();
    const std::size_t of_tokens = answer_.tokens * width.token, of_rows = answer_.rows * width.row;
    if (of_tokens > kMostTokenNumbers || of_rows > kMostWeights)
      refuse(Problem::Kind::too_many,
             "the embeddings are made of " + std::to_string(of_rows) + " numbers of texts and " +
                 std::to_string(of_tokens) + " of tokens; at most " + std::to_string(kMostWeights) + " and " +
                 std::to_string(kMostTokenNumbers) + " are computed: send less at a time",
             request_.parameter);
    return reader_->entry_point();
  }

  void read_kinds(std::span<const float> values) {
    const runtime::RowWidth width = reader_->entry_point()->width();
    for (const std::vector<std::int32_t>& ids : ids_) {
      const std::size_t count = width.row + width.token * ids.size();
      reader_->add(ids, values.first(count));
      values = values.subspan(count);
    }
    KindEmbeddings read = reader_->take();
    answer_.sparse = std::move(read.sparse);
    answer_.multi_vectors = std::move(read.multi_vectors);
    if (!request_.kinds.dense) return;
    answer_.vectors.assign(read.dense.values<float>().begin(), read.dense.values<float>().end());
    answer_.dimensions = pipelines::kept_dimensions(pipeline(), options_);
  }

  void take(std::vector<float> values) override {
    if (!is_plain()) return read_kinds(values);
    answer_.vectors = std::move(values);
    answer_.dimensions =
        answer_.tokens > 0 && request_.per_token ? answer_.vectors.size() / answer_.tokens : pipeline().dimensions();
  }

  Response respond() override {
    if (!request_.per_token && is_plain()) {
      answer_.vectors.resize(pipelines::finish_embedding(pipeline(), options_, answer_.vectors));
      answer_.vectors.resize(pipelines::join_windows(pipeline(), options_, inputs_, weights_, answer_.vectors));
      answer_.dimensions = pipelines::kept_dimensions(pipeline(), options_);
    }
    return format_(std::move(answer_));
  }

  EmbedRequest request_;
  EmbedOptions options_;
  EmbedAnswer answer_;
  std::vector<std::vector<std::int32_t>> ids_;  // of each row, where other kinds than dense are asked for
  std::vector<std::size_t> inputs_, weights_;   // pipelines::PreparedRows
  std::optional<pipelines::KindReader> reader_;
  const std::function<Response(EmbedAnswer)> format_;
};

}  // namespace

void embed(Call& call, EmbedRequest request, std::function<Response(EmbedAnswer)> format) {
  std::make_shared<Embedding>(call, std::move(request), std::move(format))->start();
}

std::size_t kind_bytes(const EmbedAnswer& answer) {
  std::size_t bytes = 0;
  for (const SparseEmbedding& sparse : answer.sparse)
    bytes += sparse.indices.capacity() * sizeof(std::int32_t) + sparse.values.capacity() * sizeof(float);
  for (const Tensor& vectors : answer.multi_vectors) bytes += vectors.byte_count();
  return bytes;
}

VectorRows take_vectors(EmbedAnswer& answer) { return {std::move(answer.vectors), answer.rows, answer.dimensions}; }

void append_vector(std::string& out, std::span<const float> row) {
  out += '[';
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i > 0) out += ',';
    formats::append_json_number(out, row[i]);
  }
  out += ']';
}

void append_sparse(std::string& out, const SparseEmbedding& sparse) {
  out += R"({"indices":[)";
  for (std::size_t i = 0; i < sparse.indices.size(); ++i) out += (i > 0 ? "," : "") + std::to_string(sparse.indices[i]);
  append_vector(out += R"(],"values":)", sparse.values);
  out += '}';
}

void append_vector(std::string& out, std::span<const float> row, Precision precision) {
  if (precision == Precision::float32) return append_vector(out, row);
  out += '[';
  bool is_first = true;
  for (const int number : pipelines::quantized_numbers(row, precision)) {
    if (!std::exchange(is_first, false)) out += ',';
    out += std::to_string(number);
  }
  out += ']';
}

}  // namespace alate::server
