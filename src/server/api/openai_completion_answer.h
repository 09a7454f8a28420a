// Generated texts as OpenAI's completions.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "server/api/openai_logprobs.h"
#include "server/models/generation_answer.h"
#include "tokenizers/token_bytes.h"

namespace alate::server {

/// What an answer needs to know of its request.
struct OpenAiCompletionQuestion {
  std::string model = {};      // as the client named it; empty: the model's own name
  bool logprobs = false;       // wanted
  bool echo = false;           // the texts begin with their prompts
  bool include_usage = false;  // at the end of a stream
};

/// A text_completion, or the parts that it grows by, as server-sent events.
class OpenAiCompletionAnswer final : public GenerationAnswer {
 public:
  explicit OpenAiCompletionAnswer(OpenAiCompletionQuestion question) : question_(std::move(question)) {}

  void begin(const GenerationStart& start, std::string& out) override;
  void add(const TextProgress& progress, std::string& out) override;
  void end(const GenerationTotals& totals, std::string& out) override;
  void fail(const Problem& problem, std::string& out) override;
  std::string_view keep_alive() const override { return ": the answer is not finished yet\n\n"; }
  std::string_view content_type() const override { return "text/event-stream"; }
  Response whole(std::vector<MadeText> texts, const GenerationTotals& totals) override;

 private:
  struct Shown {                               // of a text in a stream
    std::vector<GeneratedToken> waiting = {};  // tokens that no part has shown yet
    CompletionLogprobs logprobs = {};
  };

  void add_choice(std::string& out, std::size_t index, Shown& shown, std::string_view text, std::string_view finish);

  OpenAiCompletionQuestion question_;
  std::string head_;
  std::optional<tokenizers::TokenBytes> bytes_;
  std::vector<Shown> shown_;  // as far as there have been parts
};

}  // namespace alate::server
