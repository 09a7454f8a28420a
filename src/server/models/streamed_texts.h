// A stream of the texts of a request, in the pieces that its client takes.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/exchange/exchange.h"
#include "server/models/generation_answer.h"

namespace alate::server {

/// Never waits: what the client has not read yet is held back as tokens and text, and written by the answer when there
/// is room. Not thread-safe.
class StreamedTexts {
 public:
  /// After so much silence a stream says that the server still works.
  static constexpr std::chrono::seconds kKeepAlive{10};

  /// A `write` that leaves something behind takes a hook of `make_hook`, which is called once when it may be tried
  /// again, on any thread and perhaps within it.
  StreamedTexts(std::shared_ptr<Exchange> exchange, GenerationAnswer& answer, std::size_t texts,
                std::function<std::function<void()>()> make_hook);

  /// Sends the head of the answer. Call once, before what follows.
  void begin(const GenerationStart& start, Headers headers);
  bool has_begun() const { return has_begun_; }

  void add(std::size_t text, GeneratedToken token);
  void add(std::size_t text, const pipelines::AnswerPiece& piece);
  /// The text is whole; `made` must stay where it is.
  void finish(std::size_t text, const MadeText& made);
  /// Nothing is added any more: all texts are whole, or an error ends the stream.
  void end(const GenerationTotals& totals) { totals_ = totals; }
  void fail(Problem problem) { problem_ = std::move(problem); }
  bool is_ending() const { return totals_ || problem_; }

  /// Writes what there is and the client takes. False once the client has gone.
  bool write();
  /// The same after the hook was called.
  bool write_into_room();
  /// Writes that the server still works, if nothing has been written for a while. False once the client has gone.
  bool keep_alive(Clock::time_point now);

 private:
  struct Pending {
    std::deque<GeneratedToken> tokens;
    std::vector<pipelines::AnswerPiece> pieces;  // neighbours of one kind are joined
    const MadeText* done = nullptr;

    bool is_empty() const { return tokens.empty() && pieces.empty() && done == nullptr; }
  };

  void format_next();
  void format(std::size_t index, Pending& pending);

  const std::shared_ptr<Exchange> exchange_;
  GenerationAnswer& answer_;
  const std::function<std::function<void()>()> make_hook_;
  AnswerWriter writer_;
  std::vector<Pending> pending_;  // by text
  std::optional<GenerationTotals> totals_;
  std::optional<Problem> problem_;
  std::string out_;  // bytes that the client has not taken
  Clock::time_point last_written_;
  bool has_begun_ = false, waits_for_room_ = false;
  bool end_is_formatted_ = false, has_ended_ = false;
};

/// Appends a piece; neighbours of one kind are joined.
void append_piece(std::vector<pipelines::AnswerPiece>& pieces, const pipelines::AnswerPiece& piece);

}  // namespace alate::server
