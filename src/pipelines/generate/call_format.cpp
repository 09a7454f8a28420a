#include "pipelines/generate/call_format.h"

#include <algorithm>
#include <array>

#include "pipelines/generate/marker_search.h"

namespace alate::pipelines {
namespace {

// The formats are facts of the models' templates and model cards. Of two that begin alike, the one that needs more
// stands first.
constexpr auto kFormats = std::to_array<CallFormat>({
    // Qwen3-Coder, Qwen3.5, Nemotron 3.
    {.name = "qwen_xml",
     .body = CallFormat::Body::parameters,
     .open = "<function=",
     .close = "</function>",
     .section = "<tool_call>",
     .section_end = "</tool_call>",
     .name_end = ">",
     .key_open = "<parameter=",
     .key_end = ">",
     .value_end = "</parameter>",
     .section_of_each = true},
    {.name = "seed_xml",
     .body = CallFormat::Body::parameters,
     .open = "<function=",
     .close = "</function>",
     .section = "<seed:tool_call>",
     .section_end = "</seed:tool_call>",
     .name_end = ">",
     .key_open = "<parameter=",
     .key_end = ">",
     .value_end = "</parameter>",
     .section_of_each = true},
    {.name = "minimax_xml",
     .body = CallFormat::Body::parameters,
     .open = "<invoke name=\"",
     .close = "</invoke>",
     .section = "<minimax:tool_call>",
     .section_end = "</minimax:tool_call>",
     .name_end = "\">",
     .key_open = "<parameter name=\"",
     .key_end = "\">",
     .value_end = "</parameter>"},
    {.name = "minicpm_xml",
     .body = CallFormat::Body::parameters,
     .open = "<function name=\"",
     .close = "</function>",
     .name_end = "\">",
     .key_open = "<param name=\"",
     .key_end = "\">",
     .value_end = "</param>"},
    {.name = "glm",
     .body = CallFormat::Body::parameters,
     .open = "<tool_call>",
     .close = "</tool_call>",
     .key_open = "<arg_key>",
     .key_end = "</arg_key>",
     .value_open = "<arg_value>",
     .value_end = "</arg_value>"},
    // Hermes, Qwen2.5, Qwen3, SmolLM3, Granite 4.
    {.name = "hermes", .open = "<tool_call>", .close = "</tool_call>"},
    {.name = "functionary",
     .body = CallFormat::Body::json,
     .open = "<function=",
     .close = "</function>",
     .name_end = ">",
     .end_token = "<|eom_id|>"},
    // Mistral's tokenizers since version 11, and those before.
    {.name = "mistral_args",
     .body = CallFormat::Body::json,
     .open = "[TOOL_CALLS]",
     .name_end = "[ARGS]",
     .name_tail = "[CALL_ID]"},
    {.name = "mistral", .open = "[TOOL_CALLS]", .is_list = true},
    {.name = "phi4", .open = "<|tool_call|>", .close = "<|/tool_call|>", .is_list = true, .hint = "<|tool|>"},
    {.name = "granite", .open = "<|tool_call|>", .is_list = true},
    {.name = "nemotron", .open = "<TOOLCALL>", .close = "</TOOLCALL>", .is_list = true},
    {.name = "apriel", .open = "<tool_calls>", .close = "</tool_calls>", .is_list = true},
    {.name = "gigachat", .open = "<|function_call|>"},
    {.name = "command_r",
     .open = "<|START_ACTION|>",
     .close = "<|END_ACTION|>",
     .name_key = "tool_name",
     .arguments_key = "parameters",
     .is_list = true},
    {.name = "deepseek_v3",
     .body = CallFormat::Body::json,
     .open = "<｜tool▁call▁begin｜>function<｜tool▁sep｜>",
     .close = "```<｜tool▁call▁end｜>",
     .section = "<｜tool▁calls▁begin｜>",
     .section_end = "<｜tool▁calls▁end｜>",
     .name_end = "\n```json\n"},
    {.name = "deepseek_v3.1",
     .body = CallFormat::Body::json,
     .open = "<｜tool▁call▁begin｜>",
     .close = "<｜tool▁call▁end｜>",
     .section = "<｜tool▁calls▁begin｜>",
     .section_end = "<｜tool▁calls▁end｜>",
     .name_end = "<｜tool▁sep｜>"},
    {.name = "kimi",
     .body = CallFormat::Body::json,
     .open = "<|tool_call_begin|>functions.",
     .close = "<|tool_call_end|>",
     .section = "<|tool_calls_section_begin|>",
     .section_end = "<|tool_calls_section_end|>",
     .name_end = "<|tool_call_argument_begin|>",
     .name_tail = ":",
     .numbers_calls = true},
    {.name = "functools", .open = "functools", .is_list = true},
    // Llama 3.1 to 3.3.
    {.name = "llama3",
     .open = "<|python_tag|>",
     .arguments_key = "parameters",
     .is_bare = true,
     .end_token = "<|eom_id|>"},
});

// Whether an object with a name follows, in a list or by itself.
bool begins_objects(const CallFormat& format, std::string_view text) {
  text = without_blanks(text);
  if (text.starts_with('[')) text = without_blanks(text.substr(1));
  return text.starts_with('{') && text.find('"' + std::string(format.name_key) + '"') != std::string_view::npos;
}

}  // namespace

std::span<const CallFormat> call_formats() { return kFormats; }

const CallFormat& general_call_format() {
  return *std::ranges::find(kFormats, std::string_view("hermes"), &CallFormat::name);
}

bool writes_calls_in(const CallFormat& format, std::string_view turn, std::string_view tool) {
  for (std::size_t at = turn.find(format.open); at != std::string_view::npos; at = turn.find(format.open, at + 1)) {
    const std::string_view rest = turn.substr(at + format.open.size());
    if (format.body == CallFormat::Body::objects) {
      if (!begins_objects(format, rest) || turn.find(format.close, at) == std::string_view::npos) continue;
      return true;
    }
    if (!rest.starts_with(tool)) continue;
    const std::string_view tail = rest.substr(tool.size());
    const bool is_named =
        tail.starts_with(format.name_end) || (!format.name_tail.empty() && tail.starts_with(format.name_tail));
    // A name in an attribute is followed by JSON or by parameters.
    if (!is_named || (format.body == CallFormat::Body::json && tail.find('{') == std::string_view::npos)) continue;
    if (format.body == CallFormat::Body::parameters && tail.find(format.key_open) == std::string_view::npos) continue;
    if (!format.section.empty() && turn.find(format.section) == std::string_view::npos) continue;
    return true;
  }
  return format.is_bare && turn.find('{') != std::string_view::npos &&
         begins_objects(format, turn.substr(turn.find('{')));
}

const CallFormat* call_format_of_turn(std::string_view turn, std::string_view tool) {
  const auto found =
      std::ranges::find_if(kFormats, [&](const CallFormat& format) { return writes_calls_in(format, turn, tool); });
  return found == kFormats.end() ? nullptr : &*found;
}

const CallFormat* call_format_of_prompt(std::string_view with_tools, std::string_view without_tools) {
  const auto found = std::ranges::find_if(kFormats, [&](const CallFormat& format) {
    const std::string_view hint = format.hint.empty() ? format.open : format.hint;
    return format.body == CallFormat::Body::objects && with_tools.find(hint) != std::string_view::npos &&
           without_tools.find(hint) == std::string_view::npos;
  });
  return found == kFormats.end() ? nullptr : &*found;
}

std::string written_calls(const CallFormat& format, std::span<const WrittenCall> calls) {
  std::string text;
  for (const WrittenCall& call : calls) {
    const bool is_first = &call == calls.data(), is_last = &call == &calls.back();
    if (format.is_list) {
      text += is_first ? std::string(format.open) + '[' : ", ";
    } else {
      text += (is_first ? "" : "\n") + std::string(format.open) + '\n';
    }
    text += '{';
    formats::append_json_string(text, format.name_key);
    text += ": ";
    formats::append_json_string(text, call.name);
    text += ", ";
    formats::append_json_string(text, format.arguments_key);
    text += ": " + formats::to_json_text(call.arguments) + '}';
    if (!format.is_list && !format.close.empty()) text += '\n' + std::string(format.close);
    if (format.is_list && is_last) text += ']' + std::string(format.close);
  }
  return text;
}

}  // namespace alate::pipelines
