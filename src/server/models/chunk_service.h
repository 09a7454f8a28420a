// Chunking with the help of a model's vectors.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "alate/chunk.h"
#include "alate/embedding.h"
#include "pipelines/chunk/chunking.h"
#include "server/exchange/route.h"
#include "server/models/model_call.h"
#include "server/models/request_limits.h"

namespace alate::server {

struct ChunkRequest : ModelRequest {
  std::string text;
  ChunkOptions chunk;
  EmbedOptions embed;  // of late chunks
  bool late = false;   // a vector for each chunk, as Chunker::chunk_late; otherwise the method is semantic
};

struct ChunkAnswer : ModelAnswer {
  std::shared_ptr<const std::string> text;
  Chunks chunks;                  // without their texts
  std::optional<Tensor> vectors;  // as in LateChunks
};

/// Cuts the text and answers with the result of `format`, plus X-Model-Fingerprint; errors get the format of the call's
/// family: Problem::impossible for a model that cannot do this. `format` is as in run_task.
void chunk_with_vectors(Call& call, ChunkRequest request, std::function<Response(ChunkAnswer)> format);

/// Chunks of one answer: the options' max_chunks is at most so many, so that no more are made.
inline constexpr std::size_t kMostChunks = kRequestLimits.answer_bytes / pipelines::AnswerBudget::kItemBytes;

/// Refuses too many chunks, and those whose overlaps would make the answer too large; otherwise gives their places.
Chunks places_of_answer(const pipelines::TokenMap& map, const pipelines::PackedChunks& packed);

}  // namespace alate::server
