#include "server/api/anthropic_answer.h"

#include <algorithm>

#include "formats/json.h"
#include "server/api/random_id.h"
#include "server/api/tool_arguments.h"
#include "server/exchange/json_response.h"

namespace alate::server {
namespace {

using formats::Json;
using pipelines::AnswerPiece;

void append_event(std::string& out, std::string_view name, std::string_view data) {
  out.append("event: ").append(name).append("\ndata: ").append(data).append("\n\n");
}

std::int64_t count_of(std::size_t count) { return static_cast<std::int64_t>(count); }

// Tokens of the prompt that were not computed again count as read from the cache, and only there.
Json usage_of(const GenerationTotals& totals) {
  return Json::Object{{"input_tokens", count_of(totals.prompt_tokens - totals.cached_tokens)},
                      {"cache_creation_input_tokens", 0},
                      {"cache_read_input_tokens", count_of(totals.cached_tokens)},
                      {"output_tokens", count_of(totals.made_tokens)}};
}

Json text_or_null(std::string_view text) { return text.empty() ? Json() : Json(text); }

Json message_of(std::string_view model, Json content, std::string_view stop_reason, std::string_view stop_sequence,
                Json usage) {
  return Json::Object{{"id", random_id("msg_")},
                      {"type", "message"},
                      {"role", "assistant"},
                      {"model", model},
                      {"content", std::move(content)},
                      {"stop_reason", text_or_null(stop_reason)},
                      {"stop_sequence", text_or_null(stop_sequence)},
                      {"usage", std::move(usage)}};
}

Json tool_use_block(std::string_view name, Json input) {
  return Json::Object{{"type", "tool_use"}, {"id", random_id("toolu_")}, {"name", name}, {"input", std::move(input)}};
}

// Reasoning has no signature here: nobody asks for one when it comes back.
Json thinking_block(std::string_view text) {
  return Json::Object{{"type", "thinking"}, {"thinking", text}, {"signature", ""}};
}

Json text_block(std::string_view text) { return Json::Object{{"type", "text"}, {"text", text}}; }

Json blocks_of(const std::vector<AnswerPiece>& pieces) {
  Json::Array blocks;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const AnswerPiece& piece = pieces[i];
    switch (piece.kind) {
      case AnswerPiece::Kind::text: blocks.push_back(text_block(piece.text)); break;
      case AnswerPiece::Kind::reasoning: blocks.push_back(thinking_block(piece.text)); break;
      case AnswerPiece::Kind::tool_call: {
        std::string arguments;
        for (; i + 1 < pieces.size() && pieces[i + 1].kind == AnswerPiece::Kind::tool_arguments; ++i)
          arguments += pieces[i + 1].text;
        Json input = parse_tool_arguments(arguments);
        // The stop reason of a call that was cut off is not tool_use.
        blocks.push_back(tool_use_block(piece.text, input.is_null() ? Json(Json::Object{}) : std::move(input)));
        break;
      }
      case AnswerPiece::Kind::tool_arguments: break;
    }
  }
  return blocks;
}

}  // namespace

AnthropicAnswer::Stop AnthropicAnswer::stop_of(const MadeText& text) const {
  const Generation& made = text.generation;
  if (made.finish == FinishReason::length) {
    const bool is_full = count_of(made.tokens.size()) < question_.max_tokens;
    return {.reason = is_full ? "model_context_window_exceeded" : "max_tokens"};
  }
  if (text.calls > 0) return {.reason = "tool_use"};
  // Other stop texts are those of the model's own format.
  const bool is_asked = std::ranges::find(question_.stop_sequences, made.stop_text) != question_.stop_sequences.end();
  if (made.finish == FinishReason::stop_text && is_asked)
    return {.reason = "stop_sequence", .sequence = made.stop_text};
  return {};
}

void AnthropicAnswer::begin(const GenerationStart& start, std::string& out) {
  if (question_.model.empty()) question_.model = start.model.name;
  const Json message =
      message_of(question_.model, Json::Array{}, {}, {}, usage_of({.prompt_tokens = start.prompt_tokens}));
  append_event(out, "message_start",
               formats::to_json_text(Json::Object{{"type", "message_start"}, {"message", message}}));
}

void AnthropicAnswer::open(Block kind, std::string_view name, std::string& out) {
  close(out);
  block_ = kind;
  const Json content = kind == Block::tool_use   ? tool_use_block(name, Json::Object{})
                       : kind == Block::thinking ? thinking_block({})
                                                 : text_block({});
  append_event(out, "content_block_start",
               formats::to_json_text(Json::Object{
                   {"type", "content_block_start"}, {"index", count_of(index_)}, {"content_block", content}}));
}

void AnthropicAnswer::close(std::string& out) {
  if (block_ == Block::none) return;
  append_event(out, "content_block_stop", R"({"type":"content_block_stop","index":)" + std::to_string(index_) + "}");
  ++index_;
  block_ = Block::none;
}

void AnthropicAnswer::add_delta(std::string_view type, std::string_view member, std::string_view text,
                                std::string& out) const {
  std::string data = R"({"type":"content_block_delta","index":)" + std::to_string(index_);
  data.append(R"(,"delta":{"type":")").append(type).append(R"(",")").append(member).append(R"(":)");
  formats::append_json_string(data, text);
  append_event(out, "content_block_delta", data += "}}");
}

void AnthropicAnswer::add(const TextProgress& progress, std::string& out) {
  for (const AnswerPiece& piece : progress.pieces) {
    switch (piece.kind) {
      case AnswerPiece::Kind::text:
        if (block_ != Block::text) open(Block::text, {}, out);
        add_delta("text_delta", "text", piece.text, out);
        break;
      case AnswerPiece::Kind::reasoning:
        if (block_ != Block::thinking) open(Block::thinking, {}, out);
        add_delta("thinking_delta", "thinking", piece.text, out);
        break;
      case AnswerPiece::Kind::tool_call: open(Block::tool_use, piece.text, out); break;
      case AnswerPiece::Kind::tool_arguments: add_delta("input_json_delta", "partial_json", piece.text, out); break;
    }
  }
  if (progress.done != nullptr) stop_ = stop_of(*progress.done);
}

void AnthropicAnswer::end(const GenerationTotals& totals, std::string& out) {
  close(out);
  const Json delta = Json::Object{{"stop_reason", stop_.reason}, {"stop_sequence", text_or_null(stop_.sequence)}};
  append_event(
      out, "message_delta",
      formats::to_json_text(Json::Object{{"type", "message_delta"}, {"delta", delta}, {"usage", usage_of(totals)}}));
  append_event(out, "message_stop", R"({"type":"message_stop"})");
}

void AnthropicAnswer::fail(const Problem& problem, std::string& out) {
  append_event(out, "error", to_response(Family::anthropic, problem).body);
}

Response AnthropicAnswer::whole(std::vector<MadeText> texts, const GenerationTotals& totals) {
  const MadeText& text = texts.front();
  const Stop stop = stop_of(text);
  return json_response(
      message_of(question_.model, blocks_of(text.pieces), stop.reason, stop.sequence, usage_of(totals)));
}

}  // namespace alate::server
