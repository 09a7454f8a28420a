// How an API family writes the texts that a request has generated.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "alate/generation.h"
#include "pipelines/generate/answer_parser.h"
#include "server/exchange/family.h"
#include "server/exchange/http_message.h"
#include "server/models/model_host.h"

namespace alate::server {

/// One text of a request. Text number `index % n` of prompt `index / n`.
struct MadeText {
  Generation generation;                       // its text is all that the model wrote, before it was taken apart
  std::vector<pipelines::AnswerPiece> pieces;  // the answer; neighbours of one kind are joined
  std::size_t calls = 0;                       // of tools
};

/// What is new of a text in a stream.
struct TextProgress {
  std::size_t index = 0;
  std::span<const pipelines::AnswerPiece> pieces;
  std::span<const GeneratedToken> tokens;  // since the last progress; pieces may come later than their tokens
  const MadeText* done = nullptr;          // the text is whole: nothing follows
};

/// What is known once the prompts have been read.
struct GenerationStart {
  const HostedModel& model;
  std::size_t prompt_tokens = 0;  // of all prompts together
};

struct GenerationTotals {
  std::size_t prompt_tokens = 0, cached_tokens = 0, made_tokens = 0;  // cached: of the prompts', not computed again
  std::chrono::nanoseconds total{}, load{}, prompt{}, made{};         // prompt: until the first token
};

/// One request's. Its functions are called one after the other, on any thread, and must be short; `out` gets bytes of a
/// stream. It must not hold the model.
class GenerationAnswer {
 public:
  GenerationAnswer() = default;
  virtual ~GenerationAnswer() = default;
  GenerationAnswer(const GenerationAnswer&) = delete;
  GenerationAnswer& operator=(const GenerationAnswer&) = delete;

  /// First, for streams and others.
  virtual void begin(const GenerationStart& start, std::string& out) = 0;
  /// Of streams.
  virtual void add(const TextProgress& progress, std::string& out) = 0;
  virtual void end(const GenerationTotals& totals, std::string& out) = 0;
  /// Instead of `end`, for an error in the middle of a stream, after which nothing follows.
  virtual void fail(const Problem& problem, std::string& out) = 0;
  /// What says that the server still works on a stream.
  virtual std::string_view keep_alive() const = 0;
  /// Of a stream's answer.
  virtual std::string_view content_type() const = 0;

  /// The answer of a request without a stream.
  virtual Response whole(std::vector<MadeText> texts, const GenerationTotals& totals) = 0;
};

}  // namespace alate::server
