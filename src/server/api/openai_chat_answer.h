// Generated texts as OpenAI's chat completions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "alate/tokenizer.h"
#include "server/exchange/family.h"
#include "server/models/generation_answer.h"
#include "tokenizers/token_bytes.h"

namespace alate::server {

/// What an answer needs to know of its request.
struct OpenAiChatQuestion {
  std::string model = {};          // as the client named it; empty: the model's own name
  std::size_t n = 1;               // texts
  bool logprobs = false;           // wanted
  bool include_usage = false;      // at the end of a stream
  std::string service_tier = {};   // that is repeated; empty: none
  Family family = Family::openai;  // of errors in a stream
};

/// A chat.completion, or the chunks that it grows by, as server-sent events.
class OpenAiChatAnswer final : public GenerationAnswer {
 public:
  explicit OpenAiChatAnswer(OpenAiChatQuestion question) : question_(std::move(question)) {}

  void begin(const GenerationStart& start, std::string& out) override;
  void add(const TextProgress& progress, std::string& out) override;
  void end(const GenerationTotals& totals, std::string& out) override;
  void fail(const Problem& problem, std::string& out) override;
  std::string_view keep_alive() const override { return ": the answer is not finished yet\n\n"; }
  std::string_view content_type() const override { return "text/event-stream"; }
  Response whole(std::vector<MadeText> texts, const GenerationTotals& totals) override;

 private:
  struct Reader {  // of the model's tokens
    Tokenizer tokenizer;
    tokenizers::TokenBytes bytes;
  };

  std::string head(std::string_view object) const;
  void add_chunk(std::string& out, std::size_t index, std::string_view delta, std::string_view finish);
  std::string choice(std::size_t index, const MadeText& text);

  OpenAiChatQuestion question_;
  std::string id_, created_, fingerprint_, chunk_head_;
  std::optional<Reader> reader_;
  std::vector<std::vector<GeneratedToken>> waiting_;  // tokens of each text that no chunk has shown yet
  std::size_t reasoning_ = 0;                         // tokens
};

}  // namespace alate::server
