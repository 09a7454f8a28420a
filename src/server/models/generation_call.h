// A request that a language model answers with texts, in one piece or as they grow.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "alate/generation.h"
#include "base/threads/cancellation.h"
#include "pipelines/generate/chat_request.h"
#include "server/models/generation_answer.h"
#include "server/models/model_call.h"

namespace alate::server {

/// What a request wants of its model.
struct WantedTexts {
  std::vector<pipelines::TextPrompt> prompts;
  GenerationOptions options;
  TextCounts counts;
  bool reads_prompts = false;  // the log probabilities of the prompts' tokens, and the texts begin with their prompts
};

struct GenerationRequest : ModelRequest {
  bool streams = false;
  bool is_batch = false;  // gives way to interactive requests; see run_generation
  /// On the work queue, once the model is there. May throw like a route's handler.
  std::function<WantedTexts(const TextGenerator& generator, base::Cancellation cancellation)> prepare;
};

/// Answers by `answer`. Refuses what does not fit the model's context before anything is computed, with what
/// `context_length_exceeded` means in the call's family, and models that do not generate as Problem::impossible. A
/// client that leaves ends its texts within one step. Batch work (`is_batch`) is also what the body's "service_tier":
/// "flex" or "batch" says, and the header X-Priority: batch.
void run_generation(Call& call, GenerationRequest request, std::unique_ptr<GenerationAnswer> answer);

}  // namespace alate::server
