// How the answers to a prompt are written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alate/tokenizer.h"
#include "formats/json.h"
#include "pipelines/generate/call_format.h"

namespace alate::pipelines {

/// What stands around a model's reasoning, and around its answer to the user after that; empty: nothing.
struct ReasoningTags {
  std::string_view open, close;
  std::string_view answer_open = {}, answer_close = {};
  bool is_usual = false;  // for the model: it has them as tokens, or the prompt asks for them
};

class AnswerSyntax {
 public:
  /// `prompt` is the rendered conversation: templates may have begun the reasoning. `format` is null where no tools may
  /// be called; it must outlive this. `tools` is OpenAI's list, checked. With `has_one_call` calls after the first are
  /// left out of answers.
  AnswerSyntax(const Tokenizer& tokenizer, std::string_view prompt, const CallFormat* format = nullptr,
               const formats::Json& tools = {}, bool has_one_call = false);

  /// Those with which an answer may begin.
  std::span<const ReasoningTags> reasoning() const { return reasoning_; }
  /// The tags of the reasoning that the prompt has begun; null if it has not.
  const ReasoningTags* begun() const { return begun_ ? &reasoning_[*begun_] : nullptr; }

  /// Null: no tools may be called.
  const CallFormat* calls() const { return format_; }
  bool has_one_call() const { return has_one_call_; }
  bool knows(std::string_view tool) const { return tools_.find(tool) != tools_.end(); }
  /// Whether an argument is a string by the tool's schema. Where that says nothing of it, it may be anything.
  bool is_text(std::string_view tool, std::string_view parameter) const;

  /// A special token that tags or calls consist of. The text of an answer must show it to be read.
  struct SpecialToken {
    std::string text;
    std::int32_t id;
  };
  std::span<const SpecialToken> shown_tokens() const { return shown_; }
  std::vector<std::int32_t> shown_ids() const;
  /// Special tokens that end answers with calls.
  std::span<const std::int32_t> end_tokens() const { return ends_; }
  /// Whether a marker is made of special tokens, which a user never sees.
  bool is_hidden(std::string_view marker) const;

 private:
  void show_tokens_of(const Tokenizer& tokenizer, std::string_view marker);

  std::vector<ReasoningTags> reasoning_;
  std::optional<std::size_t> begun_;
  const CallFormat* format_;
  bool has_one_call_;
  // Whether its parameters are strings, by the tools' names and theirs.
  std::map<std::string, std::map<std::string, bool, std::less<>>, std::less<>> tools_;
  std::vector<SpecialToken> shown_;
  std::vector<std::int32_t> ends_;
};

}  // namespace alate::pipelines
