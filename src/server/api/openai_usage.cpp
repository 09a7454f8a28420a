#include "server/api/openai_usage.h"

#include <algorithm>
#include <chrono>

namespace alate::server {

using pipelines::AnswerPiece;

std::size_t reasoning_tokens(const MadeText& text, const Tokenizer& tokenizer) {
  const std::string& all = text.generation.text;
  std::size_t end = 0;
  for (const AnswerPiece& piece : text.pieces) {
    if (piece.kind != AnswerPiece::Kind::reasoning) continue;
    const std::size_t begin = all.find(piece.text, end);
    if (begin != std::string::npos) end = begin + piece.text.size();
  }
  if (end == 0) return 0;
  DecodeStream stream(tokenizer, {.skip_special_tokens = true});
  std::size_t count = 0, bytes = 0;
  for (const GeneratedToken& token : text.generation.tokens) {
    if (bytes >= end) break;
    bytes += stream.push(token.id).size();
    ++count;
  }
  return count;
}

std::string completion_usage(const GenerationTotals& totals, std::size_t reasoning) {
  return R"({"prompt_tokens":)" + std::to_string(totals.prompt_tokens) + R"(,"completion_tokens":)" +
         std::to_string(totals.made_tokens) + R"(,"total_tokens":)" +
         std::to_string(totals.prompt_tokens + totals.made_tokens) + R"(,"prompt_tokens_details":{"cached_tokens":)" +
         std::to_string(totals.cached_tokens) + R"(},"completion_tokens_details":{"reasoning_tokens":)" +
         std::to_string(reasoning) + "}}";
}

std::string response_usage(const GenerationTotals& totals, std::size_t reasoning) {
  return R"({"input_tokens":)" + std::to_string(totals.prompt_tokens) + R"(,"input_tokens_details":{"cached_tokens":)" +
         std::to_string(totals.cached_tokens) + R"(},"output_tokens":)" + std::to_string(totals.made_tokens) +
         R"(,"output_tokens_details":{"reasoning_tokens":)" + std::to_string(reasoning) + R"(},"total_tokens":)" +
         std::to_string(totals.prompt_tokens + totals.made_tokens) + "}";
}

std::string_view finish_name(FinishReason reason) { return reason == FinishReason::length ? "length" : "stop"; }

std::string unix_seconds() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(since).count());
}

}  // namespace alate::server
