// What an answer is held to, put together of the request's format, its tools and the model's way to write calls.
#pragma once

#include "alate/generation.h"
#include "base/threads/cancellation.h"
#include "formats/json.h"
#include "pipelines/generate/answer_syntax.h"
#include "pipelines/generate/chat_request.h"
#include "pipelines/generate/known_grammars.h"

namespace alate::pipelines {

/// Sets `format` or `grammar` of the options. Reasoning before the answer is never held to anything. Where the model
/// may call tools as it likes, its text is free up to the marker of a call; then the call must be one of a tool of the
/// request, with arguments that its schema describes. `tools` are checked_tools'. Of tools that are not strict, a
/// schema that cannot be kept means any object. Throws invalid_argument for formats and strict schemas that grammars
/// cannot express; cancelled.
void hold_answer(GenerationOptions& options, const AnswerSyntax& syntax, const ChatRequest& request,
                 const formats::Json::Array& tools, const KnownGrammars& known, base::Cancellation cancellation);

}  // namespace alate::pipelines
