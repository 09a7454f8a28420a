#include <utility>
#include <vector>

#include "tokenizers/decoders/stages.h"
#include "tokenizers/regex/pattern.h"
#include "tokenizers/work_budget.h"

namespace alate::tokenizers {
namespace {

class LiteralStage final : public TokenSink {
 public:
  LiteralStage(TokenSink& next, const StreamedReplacement& replacement) : next_(next), replacement_(replacement) {}

  void text(std::string_view part) override {
    replacement_.add(part, out_);
    flush();
  }
  void end_token() override {
    replacement_.finish(out_);
    flush();
    next_.end_token();
  }
  void finish() override {
    replacement_.finish(out_);
    out_.clear();
    next_.finish();
  }

 private:
  void flush() {
    if (!out_.empty()) next_.text(out_);
    out_.clear();
  }

  TokenSink& next_;
  StreamedReplacement replacement_;
  std::string out_;
};

class PatternStage final : public WholeTokenStage {
 public:
  PatternStage(TokenSink& next, const Pattern& pattern, const std::string& content)
      : WholeTokenStage(next), pattern_(pattern), content_(content) {}

 private:
  static constexpr std::size_t kExpectedBytes = std::size_t{1} << 20;

  void take(std::string& token) override {
    matches_.clear();
    if (!token.empty()) pattern_.find_all(token, matches_, budget_);
    std::string out;
    std::size_t done = 0;
    for (const Span& match : matches_) {
      append_replacement(out.append(token, done, match.begin - done), content_);
      done = match.end;
    }
    out.append(token, done);
    write(out);
  }

  const Pattern& pattern_;
  const std::string& content_;
  std::vector<Span> matches_;
  WorkBudget budget_{base::Cancellation::never(), kExpectedBytes};  // of all tokens together
};

}  // namespace

DecoderPtr replace_decoder(PatternText pattern, std::string content, std::string_view where) {
  if (!pattern.is_regex && !pattern.text.empty())
    return make_decoder<LiteralStage>(StreamedReplacement(std::move(pattern.text), std::move(content)));
  return make_decoder<PatternStage>(Pattern(std::move(pattern), where), std::move(content));
}

}  // namespace alate::tokenizers
