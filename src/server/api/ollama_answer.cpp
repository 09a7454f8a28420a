#include "server/api/ollama_answer.h"

#include <cstdint>
#include <utility>

#include "server/api/openai_logprobs.h"
#include "server/api/random_id.h"
#include "server/api/timestamp.h"
#include "server/api/tool_arguments.h"
#include "server/exchange/json_response.h"

namespace alate::server {
namespace {

using formats::Json;
using pipelines::AnswerPiece;

std::string now() { return rfc3339(std::chrono::system_clock::now()); }

void add_member(std::string_view name, std::int64_t number, std::string& out) {
  out.append(",\"").append(name).append("\":").append(std::to_string(number));
}

void add_member(std::string_view name, std::string_view text, std::string& out) {
  out.append(",\"").append(name).append("\":");
  formats::append_json_string(out, text);
}

void add_member(std::string_view name, const Json::Array& list, std::string& out) {
  if (!list.empty()) out.append(",\"").append(name).append("\":").append(formats::to_json_text(list));
}

}  // namespace

void OllamaAnswer::begin(const GenerationStart& start, std::string&) {
  if (question_.model.empty()) question_.model = start.model.name;
  if (question_.wants_logprobs) bytes_.emplace(start.model.tokenizer());
}

void OllamaAnswer::finish_call(Part& part) {
  if (!call_) return;
  Json arguments = parse_tool_arguments(call_->arguments);
  // A call that was cut off is none, as in Ollama: arguments must be an object.
  if (!arguments.is_null()) {
    Json function = Json::Object{{"index", static_cast<std::int64_t>(calls_++)},
                                 {"name", std::move(call_->tool)},
                                 {"arguments", std::move(arguments)}};
    part.calls.push_back(Json::Object{{"id", random_id("call_")}, {"function", std::move(function)}});
  }
  call_.reset();
}

void OllamaAnswer::take(const AnswerPiece& piece, Part& part) {
  if (piece.kind != AnswerPiece::Kind::tool_arguments) finish_call(part);
  switch (piece.kind) {
    case AnswerPiece::Kind::text: part.text += piece.text; break;
    case AnswerPiece::Kind::reasoning: part.thinking += piece.text; break;
    case AnswerPiece::Kind::tool_call: call_ = BegunCall{piece.text}; break;
    case AnswerPiece::Kind::tool_arguments:
      if (call_) call_->arguments += piece.text;
      break;
  }
}

void OllamaAnswer::take_tokens(std::span<const GeneratedToken> tokens, Part& part) const {
  if (question_.wants_logprobs) part.tokens.insert(part.tokens.end(), tokens.begin(), tokens.end());
}

void OllamaAnswer::begin_line(const Part& part, std::string& out) const {
  out += "{\"model\":";
  formats::append_json_string(out, question_.model);
  add_member("created_at", now(), out);
  if (question_.is_chat) {
    out += R"(,"message":{"role":"assistant")";
    add_member("content", part.text, out);
  } else {
    add_member("response", part.text, out);
  }
  if (!part.thinking.empty()) add_member("thinking", part.thinking, out);
  add_member("tool_calls", part.calls, out);
  if (question_.is_chat) out += '}';
  if (part.tokens.empty() || !bytes_) return;
  out += ",\"logprobs\":";
  append_token_logprobs(out, part.tokens, *bytes_);
}

void OllamaAnswer::add_line(Part& part, std::string& out) const {
  if (part.is_empty()) return;
  begin_line(part, out);
  out += ",\"done\":false}\n";
  part = {};
}

void OllamaAnswer::add(const TextProgress& progress, std::string& out) {
  Part part;
  take_tokens(progress.tokens, part);
  for (const AnswerPiece& piece : progress.pieces) {
    if (piece.kind != AnswerPiece::Kind::tool_arguments) finish_call(part);
    // Clients show a line's reasoning before its text, and that before its calls.
    const bool is_late =
        piece.kind == AnswerPiece::Kind::reasoning ? !part.text.empty() || !part.calls.empty() : !part.calls.empty();
    if (is_late) add_line(part, out);
    take(piece, part);
  }
  if (progress.done != nullptr) {
    finish_call(part);
    finish_ = progress.done->generation.finish;
  }
  add_line(part, out);
}

void OllamaAnswer::add_end(FinishReason finish, const GenerationTotals& totals, std::string& out) const {
  out += ",\"done\":true";
  add_member("done_reason", finish == FinishReason::length ? "length" : "stop", out);
  add_member("total_duration", totals.total.count(), out);
  add_member("load_duration", totals.load.count(), out);
  add_member("prompt_eval_count", static_cast<std::int64_t>(totals.prompt_tokens), out);
  add_member("prompt_eval_duration", totals.prompt.count(), out);
  add_member("eval_count", static_cast<std::int64_t>(totals.made_tokens), out);
  add_member("eval_duration", totals.made.count(), out);
  out += '}';
}

void OllamaAnswer::end(const GenerationTotals& totals, std::string& out) {
  begin_line({}, out);
  add_end(finish_, totals, out);
  out += '\n';
}

void OllamaAnswer::fail(const Problem& problem, std::string& out) {
  out += formats::to_json_text(Json::Object{{"error", problem.message}});
  out += '\n';
}

Response OllamaAnswer::whole(std::vector<MadeText> texts, const GenerationTotals& totals) {
  const MadeText& text = texts.front();
  Part part;
  for (const AnswerPiece& piece : text.pieces) take(piece, part);
  finish_call(part);
  take_tokens(text.generation.tokens, part);
  std::string body;
  begin_line(part, body);
  add_end(text.generation.finish, totals, body);
  return json_response(std::move(body));
}

Json ollama_load_answer(const OllamaQuestion& question, std::string_view reason) {
  Json::Object answer{{"model", question.model}, {"created_at", now()}};
  if (question.is_chat) {
    answer.emplace_back("message", Json::Object{{"role", "assistant"}, {"content", ""}});
  } else {
    answer.emplace_back("response", "");
  }
  answer.emplace_back("done", true);
  answer.emplace_back("done_reason", reason);
  return answer;
}

}  // namespace alate::server
