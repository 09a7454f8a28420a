// Embedding for all API families: pipelines::EmbedRun as a request of the server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "alate/embedding_kinds.h"
#include "server/exchange/route.h"
#include "server/models/task_service.h"
#include "server/models/vector_rows.h"

namespace alate::server {

struct EmbedRequest : TaskRequest {
  std::vector<std::vector<std::int32_t>> token_rows;  // instead of texts; special tokens are added where absent
  EmbeddingKinds kinds{.dense = true};                // what is computed; others than the model's: Problem::impossible
  std::optional<std::size_t> sparse_top_k;            // as in EmbedOptions
  bool per_token = false;                 // the vectors of all tokens before pooling, instead of one for each text
  std::optional<bool> normalize;          // as in EmbedOptions
  std::optional<std::size_t> dimensions;  // as in EmbedOptions; more than the model's: Problem::impossible
  LongTextOptions long_texts;             // as in EmbedOptions; the treatment error is `truncate` false
  std::string task;                       // as in EmbedOptions
  std::string jina_task;                  // instead; for models without adapters some are query or document
  std::string prompt_name;
  std::vector<std::string> prompt_names;  // if prompt_name is empty, the first of these that the model has is used
  std::optional<std::string> prompt;
};

struct EmbedAnswer : ModelAnswer {
  std::size_t rows = 0, dimensions = 0;
  std::vector<float> vectors;  // [rows, dimensions], or [tokens, dimensions] where they are per token; empty if no kind
                               // that is asked for is dense
  std::vector<SparseEmbedding> sparse;  // of each row, if asked for
  std::vector<Tensor> multi_vectors;    // the same: f32 [vectors, dimensions of a token's vector]
};

/// Computes the embeddings and answers with the result of `format`, plus X-Model-Fingerprint; errors get the format of
/// the call's family. `format` is as in run_task.
void embed(Call& call, EmbedRequest request, std::function<Response(EmbedAnswer)> format);

/// Moves the vectors out of an answer, for a body that is generated later.
VectorRows take_vectors(EmbedAnswer& answer);

/// Memory that the embeddings of other kinds hold.
std::size_t kind_bytes(const EmbedAnswer& answer);

}  // namespace alate::server
