// A conversation as a client of any API sends it, and the prompt that it becomes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "alate/generation.h"
#include "alate/output_format.h"
#include "base/threads/cancellation.h"
#include "formats/json.h"
#include "pipelines/generate/answer_parser.h"

namespace alate::pipelines {

/// Whether the model is to call tools.
struct ToolChoice {
  enum class Kind : std::uint8_t {
    automatic,  // as it likes
    none,
    required,  // one at least
    named,     // this one
  };
  Kind kind = Kind::automatic;
  std::string name = {};  // of `named`
};

struct ChatRequest {
  /// OpenAI's list of messages: role and content (text, null, or parts of type "text"), tool_calls with arguments as
  /// JSON text, tool_call_id, name, reasoning_content.
  formats::Json messages;
  formats::Json tools = {};  // OpenAI's list of functions; null: none
  ToolChoice tool_choice = {};
  bool parallel_tool_calls = true;  // false: one call at most
  std::optional<bool> thinks = {};  // absent: as the template has it
  std::string reasoning_effort = {};
  formats::Json variables = {};  // an object of further variables of the template
  OutputFormat format = {};      // of the answer's text
  bool continues_last = false;   // the last message is the assistant's, and the answer goes on with it
};

/// What a model is given.
struct TextPrompt {
  std::vector<std::int32_t> ids;
  std::shared_ptr<const AnswerSyntax> syntax = {};  // null: the answer is text
};

/// Renders the conversation by the model's template. Puts into `options` what the answer must look like: the format, or
/// the tool calls that are required, and the stop texts of the model's tool calls. Throws invalid_argument for
/// messages, tools and formats that the model or the template cannot take, naming the field; as ChatTemplate::render
/// and Tokenizer::encode.
TextPrompt prepare_chat(const TextGenerator::State& model, const ChatRequest& request, GenerationOptions& options,
                        base::Cancellation cancellation);

}  // namespace alate::pipelines
