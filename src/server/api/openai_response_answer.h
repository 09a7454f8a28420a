// A generated text as OpenAI's Responses.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "alate/tokenizer.h"
#include "server/models/generation_answer.h"
#include "tokenizers/token_bytes.h"

namespace alate::server {

/// What an answer needs to know of its request.
struct OpenAiResponseQuestion {
  std::string model = {};  // as the client named it; empty: the model's own name
  std::string repeated;    // JSON members that the answer repeats, with commas between
  bool logprobs = false;   // wanted
};

/// A response, or the typed events that it grows by. The request has one text.
class OpenAiResponseAnswer final : public GenerationAnswer {
 public:
  explicit OpenAiResponseAnswer(OpenAiResponseQuestion question) : question_(std::move(question)) {}

  void begin(const GenerationStart& start, std::string& out) override;
  void add(const TextProgress& progress, std::string& out) override;
  void end(const GenerationTotals& totals, std::string& out) override;
  void fail(const Problem& problem, std::string& out) override;
  std::string_view keep_alive() const override { return ": the answer is not finished yet\n\n"; }
  std::string_view content_type() const override { return "text/event-stream"; }
  Response whole(std::vector<MadeText> texts, const GenerationTotals& totals) override;

 private:
  using Kind = pipelines::AnswerPiece::Kind;

  struct Item {
    Kind kind = Kind::text;  // text, reasoning or tool_call
    std::string id, text;    // of a call: its arguments
    std::string call_id = {}, name = {};
    std::string logprobs = {};  // JSON objects with commas between
    std::string_view status = "in_progress";
  };

  void take(const pipelines::AnswerPiece& piece, std::string& out);
  void open(Item item, std::string& out);
  void close(std::string_view status, std::string& out);
  std::string shown_logprobs();
  /// An event with these members after its type and number, each with a comma before it.
  void add_event(std::string& out, std::string_view type, std::string_view members);
  std::string place_of_item() const;
  static std::string part_json(const Item& item);
  static std::string item_json(const Item& item);
  std::string response_json(std::string_view status, std::string_view usage, std::string_view error = "null") const;

  OpenAiResponseQuestion question_;
  std::string id_, created_;
  std::optional<Tokenizer> tokenizer_;
  std::optional<tokenizers::TokenBytes> bytes_;
  std::vector<Item> items_;
  bool is_open_ = false;                 // the last of them
  std::vector<GeneratedToken> waiting_;  // that no event has shown yet
  std::size_t number_ = 0;               // of the next event
  std::size_t reasoning_ = 0;            // tokens
  std::string_view status_ = "completed";
};

}  // namespace alate::server
