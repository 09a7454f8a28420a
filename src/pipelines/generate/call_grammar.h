// Calls of a request's tools, in the format of a model.
#pragma once

#include <cstdint>
#include <string_view>

#include "formats/json.h"
#include "generation/constraint/grammar.h"
#include "pipelines/generate/answer_syntax.h"
#include "pipelines/generate/chat_request.h"

namespace alate::pipelines {

/// A marker, of which parts may be special tokens.
generation::Expression marker_of(generation::GrammarBuilder& builder, const AnswerSyntax& syntax,
                                 std::string_view marker);
/// A few blanks, or none.
generation::Expression blanks_of(generation::GrammarBuilder& builder);

class CallGrammar {
 public:
  enum class Arguments : std::uint8_t {
    by_schema,  // any object where a schema cannot be kept and the tool is not strict
    any_object,
  };

  /// All must outlive this. Throws invalid_argument for strict tools whose schemas cannot be kept.
  CallGrammar(generation::GrammarBuilder& builder, const AnswerSyntax& syntax, const ChatRequest& request,
              const formats::Json::Array& tools, Arguments arguments);

  /// One call, or more where the request allows it, and nothing else.
  generation::Expression calls();
  /// Any text, with calls from their markers on.
  generation::Expression text_with_calls();

 private:
  generation::Expression any_of(generation::Expression (CallGrammar::*part)(const formats::Json& tool));
  generation::Expression object(const formats::Json& tool);
  generation::Expression named_json(const formats::Json& tool);
  generation::Expression named_parameters(const formats::Json& tool);
  generation::Expression parameter(const formats::Json::Object& schema, std::string_view key);
  generation::Expression arguments(const formats::Json& tool);
  /// What follows `open`: all calls of a list, or one.
  generation::Expression body();
  /// What follows the first marker of a group of calls.
  generation::Expression after_marker();
  std::string_view first_marker() const;
  generation::Expression marker(std::string_view text) { return marker_of(builder_, syntax_, text); }
  generation::Expression blanks() { return blanks_; }
  generation::Expression more(generation::Expression one);

  generation::GrammarBuilder& builder_;
  const AnswerSyntax& syntax_;
  const CallFormat& format_;
  const ChatRequest& request_;
  const formats::Json::Array& tools_;
  const Arguments arguments_;
  const generation::Expression blanks_;
};

}  // namespace alate::pipelines
