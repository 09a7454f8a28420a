#include "server/api/openai_response_answer.h"

#include <algorithm>

#include "formats/json.h"
#include "server/api/openai_logprobs.h"
#include "server/api/openai_usage.h"
#include "server/api/random_id.h"
#include "server/exchange/json_response.h"

namespace alate::server {
namespace {

std::string json_string(std::string_view text) {
  std::string out;
  formats::append_json_string(out, text);
  return out;
}

std::string_view prefix_of(pipelines::AnswerPiece::Kind kind) {
  switch (kind) {
    case pipelines::AnswerPiece::Kind::reasoning: return "rs_";
    case pipelines::AnswerPiece::Kind::tool_call: return "fc_";
    default: return "msg_";
  }
}

// Events about the parts of an item: response.output_text.delta.
std::string_view event_of(pipelines::AnswerPiece::Kind kind) {
  switch (kind) {
    case pipelines::AnswerPiece::Kind::reasoning: return "response.reasoning_text";
    case pipelines::AnswerPiece::Kind::tool_call: return "response.function_call_arguments";
    default: return "response.output_text";
  }
}

}  // namespace

void OpenAiResponseAnswer::begin(const GenerationStart& start, std::string& out) {
  id_ = random_id("resp_");
  created_ = unix_seconds();
  if (question_.model.empty()) question_.model = start.model.name;
  tokenizer_ = start.model.tokenizer();
  bytes_.emplace(*tokenizer_);
  for (const char* type : {"response.created", "response.in_progress"})
    add_event(out, type, R"(,"response":)" + response_json("in_progress", "null"));
}

void OpenAiResponseAnswer::add(const TextProgress& progress, std::string& out) {
  if (question_.logprobs) waiting_.insert(waiting_.end(), progress.tokens.begin(), progress.tokens.end());
  for (const pipelines::AnswerPiece& piece : progress.pieces) take(piece, out);
  if (progress.done == nullptr) return;
  const bool is_cut = progress.done->generation.finish == FinishReason::length;
  if (is_cut) status_ = "incomplete";
  if (items_.empty()) open({.kind = Kind::text, .id = {}, .text = {}}, out);
  close(status_, out);
  reasoning_ = reasoning_tokens(*progress.done, *tokenizer_);
}

void OpenAiResponseAnswer::end(const GenerationTotals& totals, std::string& out) {
  add_event(out, "response." + std::string(status_),
            R"(,"response":)" + response_json(status_, response_usage(totals, reasoning_)));
}

void OpenAiResponseAnswer::fail(const Problem& problem, std::string& out) {
  const bool is_busy = problem.kind == Problem::Kind::overloaded;
  const std::string error = R"({"code":")" + std::string(is_busy ? "rate_limit_exceeded" : "server_error") +
                            R"(","message":)" + json_string(problem.message) + "}";
  add_event(out, "response.failed", R"(,"response":)" + response_json("failed", "null", error));
}

Response OpenAiResponseAnswer::whole(std::vector<MadeText> texts, const GenerationTotals& totals) {
  std::string events;
  for (const MadeText& text : texts) {
    // The log probabilities are those of the answer after the reasoning.
    const std::span<const GeneratedToken> tokens = text.generation.tokens;
    add({.pieces = text.pieces,
         .tokens = tokens.subspan(std::min(reasoning_tokens(text, *tokenizer_), tokens.size())),
         .done = &text},
        events);
  }
  return json_response(response_json(status_, response_usage(totals, reasoning_)));
}

void OpenAiResponseAnswer::take(const pipelines::AnswerPiece& piece, std::string& out) {
  if (piece.kind == Kind::tool_call) {
    return open({.kind = Kind::tool_call, .id = {}, .text = {}, .call_id = random_id("call_"), .name = piece.text},
                out);
  }
  const Kind kind = piece.kind == Kind::tool_arguments ? Kind::tool_call : piece.kind;
  if (!is_open_ || items_.back().kind != kind) open({.kind = kind, .id = {}, .text = {}}, out);
  Item& item = items_.back();
  item.text += piece.text;
  std::string members = place_of_item() + R"(,"delta":)" + json_string(piece.text);
  if (kind != Kind::text) {
    waiting_.clear();
  } else {
    members += R"(,"logprobs":[)" + shown_logprobs() + "]";
  }
  add_event(out, std::string(event_of(kind)) + ".delta", members);
}

// The tokens that wait, which become the item's.
std::string OpenAiResponseAnswer::shown_logprobs() {
  if (waiting_.empty()) return {};
  std::string list;
  append_token_logprobs(list, waiting_, *bytes_);
  waiting_.clear();
  list = list.substr(1, list.size() - 2);
  std::string& all = items_.back().logprobs;
  all += (all.empty() ? "" : ",") + list;
  return list;
}

void OpenAiResponseAnswer::open(Item item, std::string& out) {
  if (is_open_) close("completed", out);
  item.id = random_id(prefix_of(item.kind));
  items_.push_back(std::move(item));
  is_open_ = true;
  const Item& opened = items_.back();
  add_event(out, "response.output_item.added",
            R"(,"output_index":)" + std::to_string(items_.size() - 1) + R"(,"item":)" + item_json(opened));
  if (opened.kind != Kind::tool_call)
    add_event(out, "response.content_part.added", place_of_item() + R"(,"part":)" + part_json(opened));
}

void OpenAiResponseAnswer::close(std::string_view status, std::string& out) {
  Item& item = items_.back();
  if (item.kind == Kind::text) shown_logprobs();
  item.status = status;
  is_open_ = false;
  std::string members = place_of_item();
  if (item.kind == Kind::tool_call) {
    members += R"(,"name":)" + json_string(item.name) + R"(,"arguments":)" + json_string(item.text);
  } else {
    members += R"(,"text":)" + json_string(item.text);
    if (item.kind == Kind::text) members += R"(,"logprobs":[)" + item.logprobs + "]";
  }
  add_event(out, std::string(event_of(item.kind)) + ".done", members);
  if (item.kind != Kind::tool_call)
    add_event(out, "response.content_part.done", place_of_item() + R"(,"part":)" + part_json(item));
  add_event(out, "response.output_item.done",
            R"(,"output_index":)" + std::to_string(items_.size() - 1) + R"(,"item":)" + item_json(item));
}

void OpenAiResponseAnswer::add_event(std::string& out, std::string_view type, std::string_view members) {
  out += "event: ";
  out += type;
  out += "\ndata: {\"type\":\"";
  out += type;
  out += "\",\"sequence_number\":";
  out += std::to_string(number_++);
  out += members;
  out += "}\n\n";
}

// Where the last item is.
std::string OpenAiResponseAnswer::place_of_item() const {
  std::string members =
      R"(,"item_id":")" + items_.back().id + R"(","output_index":)" + std::to_string(items_.size() - 1);
  if (items_.back().kind != Kind::tool_call) members += R"(,"content_index":0)";
  return members;
}

std::string OpenAiResponseAnswer::part_json(const Item& item) {
  if (item.kind == Kind::reasoning) return R"({"type":"reasoning_text","text":)" + json_string(item.text) + "}";
  return R"({"type":"output_text","text":)" + json_string(item.text) + R"(,"annotations":[],"logprobs":[)" +
         item.logprobs + "]}";
}

std::string OpenAiResponseAnswer::item_json(const Item& item) {
  const std::string head = R"("id":")" + item.id + R"(","status":")" + std::string(item.status) + R"(",)";
  const bool has_part = item.status != "in_progress";
  switch (item.kind) {
    case Kind::reasoning:
      return R"({"type":"reasoning",)" + head + R"("summary":[],"content":[)" + (has_part ? part_json(item) : "") +
             "]}";
    case Kind::tool_call:
      return R"({"type":"function_call",)" + head + R"("call_id":")" + item.call_id + R"(","name":)" +
             json_string(item.name) + R"(,"arguments":)" + json_string(item.text) + "}";
    default: break;
  }
  return R"({"type":"message",)" + head + R"("role":"assistant","content":[)" + (has_part ? part_json(item) : "") +
         "]}";
}

std::string OpenAiResponseAnswer::response_json(std::string_view status, std::string_view usage,
                                                std::string_view error) const {
  std::string out = R"({"id":")" + id_ + R"(","object":"response","created_at":)" + created_ + R"(,"status":")" +
                    std::string(status) + R"(","error":)" + std::string(error) + R"(,"incomplete_details":)" +
                    (status == "incomplete" ? R"({"reason":"max_output_tokens"})" : "null") + R"(,"model":)" +
                    json_string(question_.model) + R"(,"output":[)";
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (i > 0) out += ',';
    out += item_json(items_[i]);
  }
  return out + R"(],"usage":)" + std::string(usage) + "," + question_.repeated + "}";
}

}  // namespace alate::server
