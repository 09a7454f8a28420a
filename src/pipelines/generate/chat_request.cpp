#include "pipelines/generate/chat_request.h"

#include <memory>
#include <string>

#include "alate/error.h"
#include "pipelines/generate/answer_grammar.h"
#include "pipelines/generate/answer_syntax.h"
#include "pipelines/generate/chat_prompt.h"
#include "pipelines/generate/chat_tools.h"
#include "pipelines/generate/generator_state.h"
#include "pipelines/generate/text_batch.h"

namespace alate::pipelines {
namespace {

// The lack of a template is no lack of the server's, which may serve models that only continue texts.
std::shared_ptr<const ChatDialect> dialect_of(const TextGenerator::State& model) {
  try {
    return model.dialect();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::not_found) throw;
    throw Error(ErrorCode::invalid_argument,
                "the model has no chat template, by which conversations are written: name another model, or let this "
                "one continue a text");
  }
}

}  // namespace

TextPrompt prepare_chat(const TextGenerator::State& model, const ChatRequest& request, GenerationOptions& options,
                        base::Cancellation cancellation) {
  const std::shared_ptr<const ChatDialect> dialect = dialect_of(model);
  const formats::Json::Array tools = checked_tools(request.tools, request.tool_choice);
  const std::string prompt = chat_prompt(*dialect, request, tools);
  const auto syntax = std::make_shared<const AnswerSyntax>(model.model.tokenizer, prompt,
                                                           tools.empty() ? nullptr : dialect->traits.calls, tools,
                                                           !request.parallel_tool_calls);
  TextPrompt result{prompt_tokens(model, prompt, false, cancellation), syntax};
  hold_answer(options, *syntax, request, tools, dialect->grammars, cancellation);
  options.add_special_tokens = false;  // the template has written them
  options.stopping.stop_token_ids.insert(options.stopping.stop_token_ids.end(), syntax->end_tokens().begin(),
                                         syntax->end_tokens().end());
  return result;
}

}  // namespace alate::pipelines
