#include "pipelines/generate/answer_grammar.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "generation/constraint/grammar.h"
#include "pipelines/generate/call_grammar.h"

namespace alate::pipelines {
namespace {

using formats::Json;
using generation::Expression;
using generation::GrammarBuilder;

constexpr std::string_view kFormatName = "the answer's format", kAnswerName = "the answer's grammar";

// The text that the request wants; nullopt: any.
std::optional<Expression> wanted_text(GrammarBuilder& builder, const OutputFormat& format) {
  switch (format.kind) {
    case OutputFormat::Kind::text: return std::nullopt;
    case OutputFormat::Kind::json: return builder.json_object();
    case OutputFormat::Kind::json_schema:
      return builder.json_schema(formats::parse_json(format.definition, kFormatName), kFormatName);
    case OutputFormat::Kind::regex: return builder.regex(format.definition, kFormatName);
    case OutputFormat::Kind::grammar: return builder.gbnf(format.definition, kFormatName);
  }
  return std::nullopt;
}

bool may_begin_with(const ReasoningTags& tags, const ChatRequest& request) {
  return tags.is_usual && request.thinks != false;
}

bool may_reason(const AnswerSyntax& syntax, const ChatRequest& request) {
  return syntax.begun() != nullptr || std::ranges::any_of(syntax.reasoning(), [&](const ReasoningTags& tags) {
           return may_begin_with(tags, request);
         });
}

bool must_call(const ChatRequest& request) {
  return request.tool_choice.kind == ToolChoice::Kind::required || request.tool_choice.kind == ToolChoice::Kind::named;
}

bool has_strict_tool(const ChatRequest& request) {
  return std::ranges::any_of(request.tools.as_array("tools"),
                             [](const Json& tool) { return tool.find("function")->get_bool("strict", false); });
}

// The answer after reasoning, which the prompt or the model may have begun.
Expression after_reasoning(GrammarBuilder& builder, const AnswerSyntax& syntax, const ChatRequest& request,
                           Expression answer) {
  const auto closed = [&](const ReasoningTags& tags) {
    Expression wrapped = answer;
    if (!tags.answer_open.empty())
      wrapped = builder.sequence({builder.optional(marker_of(builder, syntax, tags.answer_open)), answer,
                                  builder.optional(marker_of(builder, syntax, tags.answer_close))});
    const generation::Trigger end{marker_of(builder, syntax, tags.close),
                                  builder.sequence({blanks_of(builder), wrapped})};
    return builder.triggered({&end, 1}, true);
  };
  if (syntax.begun() != nullptr) return closed(*syntax.begun());
  std::vector<Expression> ways{answer};
  for (const ReasoningTags& tags : syntax.reasoning()) {
    if (!may_begin_with(tags, request)) continue;
    ways.push_back(builder.sequence({marker_of(builder, syntax, tags.open), closed(tags)}));
  }
  return builder.choice(ways);
}

using Arguments = CallGrammar::Arguments;

// Null if the answer may be anything.
std::shared_ptr<const generation::Grammar> answer_grammar(const AnswerSyntax& syntax, const ChatRequest& request,
                                                          const Json::Array& tools, Arguments arguments,
                                                          base::Cancellation cancellation) {
  GrammarBuilder builder(cancellation);
  std::optional<Expression> answer = wanted_text(builder, request.format);
  if (!tools.empty()) {
    CallGrammar calls(builder, syntax, request, tools, arguments);
    if (must_call(request)) {
      answer = calls.calls();
    } else if (answer) {
      answer = builder.choice({*answer, calls.calls()});
    } else if (!syntax.calls()->is_bare) {
      answer = calls.text_with_calls();
    }
  }
  // Calls without a marker are not told from an answer in JSON before they are whole.
  if (!answer) return nullptr;
  return builder.build(after_reasoning(builder, syntax, request, *answer), kAnswerName);
}

// All that answer_grammar depends on, for one model.
std::string key_of(const AnswerSyntax& syntax, const ChatRequest& request) {
  Json::Array tags;
  for (const ReasoningTags& each : syntax.reasoning()) {
    if (may_begin_with(each, request)) tags.push_back(Json::Array{Json(each.open), Json(each.answer_open)});
  }
  const ReasoningTags* begun = syntax.begun();
  return formats::to_json_text(
      Json::Array{syntax.calls() == nullptr ? Json() : Json(syntax.calls()->name), request.tools,
                  static_cast<int>(request.tool_choice.kind), request.tool_choice.name, request.parallel_tool_calls,
                  static_cast<int>(request.format.kind), request.format.definition, std::move(tags),
                  begun == nullptr ? Json() : Json(Json::Array{Json(begun->open), Json(begun->answer_open)})});
}

}  // namespace

void hold_answer(GenerationOptions& options, const AnswerSyntax& syntax, const ChatRequest& request,
                 const Json::Array& tools, const KnownGrammars& known, base::Cancellation cancellation) {
  if (tools.empty() && !may_reason(syntax, request)) {
    options.format = request.format;
    return;
  }
  if (tools.empty() && request.format.kind == OutputFormat::Kind::text) return;
  options.grammar = known.of(key_of(syntax, request), [&] {
    try {
      return answer_grammar(syntax, request, tools, Arguments::by_schema, cancellation);
    } catch (const Error& error) {
      // All schemas together are too large.
      if (error.code() != ErrorCode::invalid_argument || tools.empty() || has_strict_tool(request)) throw;
      return answer_grammar(syntax, request, tools, Arguments::any_object, cancellation);
    }
  });
}

}  // namespace alate::pipelines
