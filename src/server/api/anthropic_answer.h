// Generated texts as answers of Anthropic's messages API.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/models/generation_answer.h"

namespace alate::server {

/// What an answer repeats of its request.
struct AnthropicQuestion {
  std::string model = {};  // empty: the model's own name
  std::int64_t max_tokens = 0;
  std::vector<std::string> stop_sequences = {};
};

/// A message, or the server-sent events that a message grows by. The request has one text.
class AnthropicAnswer final : public GenerationAnswer {
 public:
  explicit AnthropicAnswer(AnthropicQuestion question) : question_(std::move(question)) {}

  void begin(const GenerationStart& start, std::string& out) override;
  void add(const TextProgress& progress, std::string& out) override;
  void end(const GenerationTotals& totals, std::string& out) override;
  void fail(const Problem& problem, std::string& out) override;
  std::string_view keep_alive() const override { return "event: ping\ndata: {\"type\":\"ping\"}\n\n"; }
  std::string_view content_type() const override { return "text/event-stream; charset=utf-8"; }
  Response whole(std::vector<MadeText> texts, const GenerationTotals& totals) override;

 private:
  enum class Block { none, text, thinking, tool_use };
  struct Stop {
    std::string_view reason = "end_turn";
    std::string sequence = {};  // of the reason "stop_sequence"
  };

  Stop stop_of(const MadeText& text) const;
  void open(Block kind, std::string_view name, std::string& out);
  void close(std::string& out);
  void add_delta(std::string_view type, std::string_view member, std::string_view text, std::string& out) const;

  AnthropicQuestion question_;
  Block block_ = Block::none;  // that is open
  std::size_t index_ = 0;      // of the block that is open, or the next
  Stop stop_;
};

}  // namespace alate::server
