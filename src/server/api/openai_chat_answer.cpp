#include "server/api/openai_chat_answer.h"

#include "formats/json.h"
#include "server/api/openai_logprobs.h"
#include "server/api/openai_usage.h"
#include "server/api/random_id.h"
#include "server/exchange/json_response.h"

namespace alate::server {
namespace {

using formats::append_json_string;
using Kind = pipelines::AnswerPiece::Kind;

std::string json_string(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

std::string_view finish_of(const MadeText& text) {
  const std::string_view name = finish_name(text.generation.finish);
  return text.calls > 0 && name == "stop" ? "tool_calls" : name;
}

// What a piece adds to a message.
std::string delta_of(const pipelines::AnswerPiece& piece) {
  const std::string text = json_string(piece.text);
  const std::string call = R"({"tool_calls":[{"index":)" + std::to_string(piece.call);
  switch (piece.kind) {
    case Kind::text: return R"({"content":)" + text + "}";
    case Kind::reasoning: return R"({"reasoning_content":)" + text + "}";
    case Kind::tool_call:
      return call + R"(,"id":)" + json_string(random_id("call_")) + R"(,"type":"function","function":{"name":)" + text +
             R"(,"arguments":""}}]})";
    case Kind::tool_arguments: break;
  }
  return call + R"(,"function":{"arguments":)" + text + "}}]}";
}

// The text's parts, put together.
struct Message {
  struct ToolCall {
    std::string name, arguments;
  };
  std::string content, reasoning;
  std::vector<ToolCall> calls;
};

Message message_of(const std::vector<pipelines::AnswerPiece>& pieces) {
  Message message;
  for (const pipelines::AnswerPiece& piece : pieces) {
    switch (piece.kind) {
      case Kind::text: message.content += piece.text; break;
      case Kind::reasoning: message.reasoning += piece.text; break;
      case Kind::tool_call: message.calls.push_back({piece.text, {}}); break;
      case Kind::tool_arguments:
        if (piece.call < message.calls.size()) message.calls[piece.call].arguments += piece.text;
        break;
    }
  }
  return message;
}

std::string message_json(const Message& message) {
  std::string out = R"({"role":"assistant","content":)";
  out += message.content.empty() && !message.calls.empty() ? "null" : json_string(message.content);
  out += R"(,"refusal":null)";
  if (!message.reasoning.empty()) out += R"(,"reasoning_content":)" + json_string(message.reasoning);
  if (!message.calls.empty()) {
    out += R"(,"tool_calls":[)";
    for (std::size_t i = 0; i < message.calls.size(); ++i) {
      out += i > 0 ? "," : "";
      out += R"({"id":)" + json_string(random_id("call_")) + R"(,"type":"function","function":{"name":)" +
             json_string(message.calls[i].name) + R"(,"arguments":)" + json_string(message.calls[i].arguments) + "}}";
    }
    out += ']';
  }
  return out += '}';
}

}  // namespace

void OpenAiChatAnswer::begin(const GenerationStart& start, std::string& out) {
  id_ = random_id("chatcmpl-");
  created_ = unix_seconds();
  fingerprint_ = "fp_" + to_string(start.model.pipelines.fingerprint());
  if (question_.model.empty()) question_.model = start.model.name;
  const Tokenizer& tokenizer = start.model.tokenizer();
  reader_.emplace(Reader{tokenizer, tokenizers::TokenBytes(tokenizer)});
  waiting_.resize(question_.n);
  chunk_head_ = "data: " + head("chat.completion.chunk");
  for (std::size_t i = 0; i < question_.n; ++i) add_chunk(out, i, R"({"role":"assistant","content":""})", "");
}

void OpenAiChatAnswer::add(const TextProgress& progress, std::string& out) {
  if (question_.logprobs) {
    std::vector<GeneratedToken>& waiting = waiting_[progress.index];
    waiting.insert(waiting.end(), progress.tokens.begin(), progress.tokens.end());
  }
  for (const pipelines::AnswerPiece& piece : progress.pieces) add_chunk(out, progress.index, delta_of(piece), "");
  if (progress.done == nullptr) return;
  reasoning_ += reasoning_tokens(*progress.done, reader_->tokenizer);
  add_chunk(out, progress.index, "{}", finish_of(*progress.done));
}

void OpenAiChatAnswer::end(const GenerationTotals& totals, std::string& out) {
  if (question_.include_usage)
    out += chunk_head_ + R"("choices":[],"usage":)" + completion_usage(totals, reasoning_) + "}\n\n";
  out += "data: [DONE]\n\n";
}

void OpenAiChatAnswer::fail(const Problem& problem, std::string& out) {
  out += "data: " + to_response(question_.family, problem).body + "\n\ndata: [DONE]\n\n";
}

Response OpenAiChatAnswer::whole(std::vector<MadeText> texts, const GenerationTotals& totals) {
  std::string out = head("chat.completion") + R"("choices":[)";
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) out += ',';
    out += choice(i, texts[i]);
    reasoning_ += reasoning_tokens(texts[i], reader_->tokenizer);
  }
  return json_response(out += R"(],"usage":)" + completion_usage(totals, reasoning_) + "}");
}

// The members of an answer before its choices.
std::string OpenAiChatAnswer::head(std::string_view object) const {
  std::string out = R"({"id":")" + id_ + R"(","object":")" + std::string(object) + R"(","created":)" + created_ +
                    R"(,"model":)" + json_string(question_.model) + R"(,"system_fingerprint":")" + fingerprint_ +
                    R"(",)";
  if (!question_.service_tier.empty()) out += R"("service_tier":)" + json_string(question_.service_tier) + ",";
  return out;
}

void OpenAiChatAnswer::add_chunk(std::string& out, std::size_t index, std::string_view delta, std::string_view finish) {
  out += chunk_head_;
  out += R"("choices":[{"index":)";
  out += std::to_string(index);
  out += R"(,"delta":)";
  out += delta;
  out += R"(,"logprobs":)";
  std::vector<GeneratedToken>& waiting = waiting_[index];
  if (waiting.empty()) {
    out += "null";
  } else {
    out += R"({"content":)";
    append_token_logprobs(out, waiting, reader_->bytes);
    out += R"(,"refusal":null})";
    waiting.clear();
  }
  out += R"(,"finish_reason":)";
  out += finish.empty() ? "null" : json_string(finish);
  out += question_.include_usage ? "}],\"usage\":null}\n\n" : "}]}\n\n";
}

std::string OpenAiChatAnswer::choice(std::size_t index, const MadeText& text) {
  std::string out = R"({"index":)" + std::to_string(index) + R"(,"message":)" + message_json(message_of(text.pieces)) +
                    R"(,"logprobs":)";
  if (question_.logprobs) {
    out += R"({"content":)";
    append_token_logprobs(out, text.generation.tokens, reader_->bytes);
    out += R"(,"refusal":null})";
  } else {
    out += "null";
  }
  return out += R"(,"finish_reason":)" + json_string(finish_of(text)) + "}";
}

}  // namespace alate::server
