#include "server/api/pull_lines.h"

#include <array>
#include <utility>

#include "formats/json.h"
#include "server/exchange/failure.h"

namespace alate::server {
namespace {

using formats::Json;

// A line that is said again shows that the server is there, and whether the client still is.
constexpr auto kSayAgain = std::chrono::seconds(1);
constexpr std::size_t kShownDigits = 12;

constexpr std::array<std::string_view, 3> kLastSteps = {"verifying sha256 digest", "writing manifest", "success"};

std::string pull_line_of(const PulledPart& part) {
  // Clients tell files apart by their digests.
  const std::string& digest = part.digest.empty() ? part.name : part.digest;
  const std::string digits = part.digest.empty() ? part.name : digest.substr(digest.find(':') + 1, kShownDigits);
  return formats::to_json_text(Json::Object{{"status", "pulling " + digits},
                                            {"digest", digest},
                                            {"total", part.total_bytes},
                                            {"completed", part.is_done ? part.total_bytes : part.done_bytes}});
}

}  // namespace

bool PullLines::tell(const PullState& state) {
  if (exchange_->abandoned()) return false;
  if (!begun_ && state.phase == PullState::Phase::failed) {
    fail(*exchange_, Family::ollama, state.error);  // with a status that says so
    return false;
  }
  if (!begun_) begin();
  const Said said = say_state(state);
  if (said != Said::yes || state.has_ended()) {
    if (said == Said::yes) writer_.end();
    return said == Said::later;
  }
  if (std::chrono::steady_clock::now() - last_said_ < kSayAgain) return true;
  return say(last_) != Said::gone;
}

void PullLines::begin() {
  Response head;
  head.content_type = "application/x-ndjson";
  writer_ = exchange_->begin(std::move(head));
  begun_ = true;
}

PullLines::Said PullLines::say_state(const PullState& state) {
  if (steps_ == 0) {
    if (const Said said = say_status("pulling manifest"); said != Said::yes) return said;
    ++steps_;
  }
  shown_.resize(std::max(shown_.size(), state.files.size()));
  for (std::size_t i = 0; i < state.files.size(); ++i) {
    const PulledPart& part = state.files[i];
    Shown& shown = shown_[i];
    const bool is_new = part.is_done ? !shown.is_done : part.done_bytes != shown.bytes;
    if (!is_new || shown.is_done) continue;
    if (const Said said = say(pull_line_of(part)); said != Said::yes) return said;
    shown = {.bytes = part.done_bytes, .is_done = part.is_done};
  }
  return state.has_ended() ? say_end(state) : Said::yes;
}

PullLines::Said PullLines::say_end(const PullState& state) {
  if (state.phase == PullState::Phase::failed) {
    Said said = say(formats::to_json_text(Json::Object{{"error", problem_of(state.error).message}}));
    return said;
  }
  while (steps_ <= kLastSteps.size()) {
    if (const Said said = say_status(kLastSteps[steps_ - 1]); said != Said::yes) return said;
    ++steps_;
  }
  return Said::yes;
}

PullLines::Said PullLines::say_status(std::string_view status) {
  return say(formats::to_json_text(Json::Object{{"status", status}}));
}

PullLines::Said PullLines::say(std::string line) {
  switch (writer_.write(line + "\n")) {
    case AnswerWriter::Result::taken: break;
    case AnswerWriter::Result::full: return Said::later;
    case AnswerWriter::Result::gone: return Said::gone;
  }
  last_ = std::move(line);
  last_said_ = std::chrono::steady_clock::now();
  return Said::yes;
}

}  // namespace alate::server
