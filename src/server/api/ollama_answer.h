// Generated texts as answers of Ollama's /api/generate and /api/chat.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/json.h"
#include "server/models/generation_answer.h"
#include "tokenizers/token_bytes.h"

namespace alate::server {

/// What an answer repeats of its request, and how it is written.
struct OllamaQuestion {
  std::string model = {};  // empty: the model's own name
  bool is_chat = false;
  bool wants_logprobs = false;
};

/// One object, or the lines that an answer grows by. The request has one text.
class OllamaAnswer final : public GenerationAnswer {
 public:
  explicit OllamaAnswer(OllamaQuestion question) : question_(std::move(question)) {}

  void begin(const GenerationStart& start, std::string& out) override;
  void add(const TextProgress& progress, std::string& out) override;
  void end(const GenerationTotals& totals, std::string& out) override;
  void fail(const Problem& problem, std::string& out) override;
  /// Blanks before the next line: clients parse each line, and an empty one is not JSON.
  std::string_view keep_alive() const override { return " "; }
  std::string_view content_type() const override { return "application/x-ndjson"; }
  Response whole(std::vector<MadeText> texts, const GenerationTotals& totals) override;

 private:
  // What a line has of the answer.
  struct Part {
    std::string thinking = {}, text = {};
    formats::Json::Array calls = {};
    std::vector<GeneratedToken> tokens = {};  // with their log probabilities

    bool is_empty() const { return thinking.empty() && text.empty() && calls.empty() && tokens.empty(); }
  };
  struct BegunCall {
    std::string tool, arguments = {};
  };

  void take(const pipelines::AnswerPiece& piece, Part& part);
  void take_tokens(std::span<const GeneratedToken> tokens, Part& part) const;
  void finish_call(Part& part);
  /// The members of a line up to "done", which is left to the caller.
  void begin_line(const Part& part, std::string& out) const;
  void add_line(Part& part, std::string& out) const;
  void add_end(FinishReason finish, const GenerationTotals& totals, std::string& out) const;

  OllamaQuestion question_;
  std::optional<tokenizers::TokenBytes> bytes_;  // of the model's tokens
  std::optional<BegunCall> call_;                // whose arguments are not all there yet
  std::size_t calls_ = 0;
  FinishReason finish_ = FinishReason::end_of_sequence;
};

/// The answer to a request that only loads or unloads the model.
formats::Json ollama_load_answer(const OllamaQuestion& question, std::string_view reason);

}  // namespace alate::server
