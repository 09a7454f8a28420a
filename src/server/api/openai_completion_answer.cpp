#include "server/api/openai_completion_answer.h"

#include <iterator>

#include "formats/json.h"
#include "server/api/openai_usage.h"
#include "server/api/random_id.h"
#include "server/exchange/family.h"
#include "server/exchange/json_response.h"

namespace alate::server {
namespace {

std::string text_of(std::span<const pipelines::AnswerPiece> pieces) {
  std::string text;
  for (const pipelines::AnswerPiece& piece : pieces) text += piece.text;
  return text;
}

}  // namespace

void OpenAiCompletionAnswer::begin(const GenerationStart& start, std::string&) {
  head_ = R"({"id":")" + random_id("cmpl-") + R"(","object":"text_completion","created":)" + unix_seconds() +
          R"(,"model":)";
  formats::append_json_string(head_, question_.model.empty() ? std::string_view(start.model.name) : question_.model);
  head_ += R"(,"system_fingerprint":"fp_)" + to_string(start.model.pipelines.fingerprint()) + R"(","choices":[)";
  bytes_.emplace(start.model.tokenizer());
}

void OpenAiCompletionAnswer::add(const TextProgress& progress, std::string& out) {
  if (progress.index >= shown_.size()) shown_.resize(progress.index + 1);
  Shown& shown = shown_[progress.index];
  if (progress.done != nullptr && question_.echo) {
    const std::vector<GeneratedToken>& prompt = progress.done->generation.prompt;
    shown.waiting.insert(shown.waiting.begin(), prompt.begin(), prompt.end());
  }
  if (question_.logprobs) shown.waiting.insert(shown.waiting.end(), progress.tokens.begin(), progress.tokens.end());
  const std::string text = text_of(progress.pieces);
  if (text.empty() && progress.done == nullptr) return;
  out += "data: " + head_;
  add_choice(out, progress.index, shown, text,
             progress.done != nullptr ? finish_name(progress.done->generation.finish) : "");
  out += question_.include_usage ? "],\"usage\":null}\n\n" : "]}\n\n";
}

void OpenAiCompletionAnswer::end(const GenerationTotals& totals, std::string& out) {
  if (question_.include_usage) out += "data: " + head_ + R"(],"usage":)" + completion_usage(totals, 0) + "}\n\n";
  out += "data: [DONE]\n\n";
}

void OpenAiCompletionAnswer::fail(const Problem& problem, std::string& out) {
  out += "data: " + to_response(Family::openai, problem).body + "\n\ndata: [DONE]\n\n";
}

Response OpenAiCompletionAnswer::whole(std::vector<MadeText> texts, const GenerationTotals& totals) {
  std::string out = head_;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) out += ',';
    Shown all;
    Generation& made = texts[i].generation;
    if (question_.logprobs) {
      if (question_.echo) all.waiting = std::move(made.prompt);
      all.waiting.insert(all.waiting.end(), std::make_move_iterator(made.tokens.begin()),
                         std::make_move_iterator(made.tokens.end()));
    }
    add_choice(out, i, all, text_of(texts[i].pieces), finish_name(made.finish));
  }
  return json_response(out += R"(],"usage":)" + completion_usage(totals, 0) + "}");
}

void OpenAiCompletionAnswer::add_choice(std::string& out, std::size_t index, Shown& shown, std::string_view text,
                                        std::string_view finish) {
  out += R"({"text":)";
  formats::append_json_string(out, text);
  out += R"(,"index":)" + std::to_string(index) + R"(,"logprobs":)";
  // Those of a prompt are known when its text is done; then all follow in their order.
  if (question_.logprobs && (!question_.echo || !finish.empty())) {
    shown.logprobs.append(out, shown.waiting, question_.echo, *bytes_);
    shown.waiting.clear();
  } else {
    out += "null";
  }
  out += R"(,"finish_reason":)";
  if (finish.empty()) {
    out += "null";
  } else {
    formats::append_json_string(out, finish);
  }
  out += '}';
}

}  // namespace alate::server
