#include "tokenizers/chat_templates/sources/known_families.h"

#include <algorithm>
#include <cstddef>

namespace alate::tokenizers::chat_templates {
namespace {

// Templates that hide nothing: what they do not write is refused.
constexpr std::string_view kChecks = R"({%- if tools or documents -%}
{{ raise_exception('the model comes without a chat template, and that of its family takes no tools or documents') }}
{%- endif -%}
{%- for message in messages -%}
{%- if message.content is not string -%}
{{ raise_exception('the model comes without a chat template, and in that of its family contents are texts') }}
{%- endif -%}
{%- if message.role not in ['system', 'user', 'assistant'] -%}
{{ raise_exception("the role is '" ~ message.role ~ "'; it may be system, user or assistant") }}
{%- endif -%}
{%- endfor -%}
)";

// `system` is the first message's text if that is its role; `turns` are the others.
constexpr std::string_view kAlternating = R"({%- if messages[0].role == 'system' -%}
{%- set system, turns = messages[0].content, messages[1:] -%}
{%- else -%}
{%- set system, turns = none, messages -%}
{%- endif -%}
{%- for message in turns -%}
{%- if message.role != ('assistant' if loop.index0 is odd else 'user') -%}
{{ raise_exception('after a system message, roles must alternate between user and assistant') }}
{%- endif -%}
{%- endfor -%}
)";

constexpr std::string_view kChatMl = R"({%- for message in messages -%}
{{ '<|im_start|>' ~ message.role ~ '\n' ~ message.content ~ '<|im_end|>\n' }}
{%- endfor -%}
{{ '<|im_start|>assistant\n' if add_generation_prompt }})";

constexpr std::string_view kPhi4 = R"({%- for message in messages -%}
{{ '<|im_start|>' ~ message.role ~ '<|im_sep|>' ~ message.content ~ '<|im_end|>' }}
{%- endfor -%}
{{ '<|im_start|>assistant<|im_sep|>' if add_generation_prompt }})";

constexpr std::string_view kPhi3 = R"({%- for message in messages -%}
{{ '<|' ~ message.role ~ '|>\n' ~ message.content ~ '<|end|>\n' }}
{%- endfor -%}
{{ '<|assistant|>\n' if add_generation_prompt else eos_token }})";

constexpr std::string_view kZephyr = R"({%- for message in messages -%}
{{ '<|' ~ message.role ~ '|>\n' ~ message.content ~ eos_token ~ '\n' }}
{%- endfor -%}
{{ '<|assistant|>\n' if add_generation_prompt }})";

constexpr std::string_view kLlama2 = R"({%- for message in turns -%}
{%- set content = message.content -%}
{%- if loop.first and system is not none -%}
{%- set content = '<<SYS>>\n' ~ system ~ '\n<</SYS>>\n\n' ~ content -%}
{%- endif -%}
{%- if message.role == 'user' -%}
{{ bos_token ~ '[INST] ' ~ content | trim ~ ' [/INST]' }}
{%- else -%}
{{ ' ' ~ content | trim ~ ' ' ~ eos_token }}
{%- endif -%}
{%- endfor -%})";

constexpr std::string_view kLlama3 = R"({{- bos_token -}}
{%- for message in messages -%}
{{ '<|start_header_id|>' ~ message.role ~ '<|end_header_id|>\n\n' ~ message.content | trim ~ '<|eot_id|>' }}
{%- endfor -%}
{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' if add_generation_prompt }})";

// Versions 3.1 to 3.3. Where the date is not given it is the one that they were trained with.
constexpr std::string_view kLlama31 = R"({%- if messages[0].role == 'system' -%}
{%- set system, turns = messages[0].content | trim, messages[1:] -%}
{%- else -%}
{%- set system, turns = '', messages -%}
{%- endif -%}
{{ bos_token ~ '<|start_header_id|>system<|end_header_id|>\n\nCutting Knowledge Date: December 2023\nToday Date: ' ~
   date_string | default('26 Jul 2024') ~ '\n\n' ~ system ~ '<|eot_id|>' }}
{%- for message in turns -%}
{{ '<|start_header_id|>' ~ message.role ~ '<|end_header_id|>\n\n' ~ message.content | trim ~ '<|eot_id|>' }}
{%- endfor -%}
{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' if add_generation_prompt }})";

constexpr std::string_view kGemma = R"({%- if system is not none -%}
{{ raise_exception('Gemma and Gemma 2 take no system message') }}
{%- endif -%}
{{ bos_token }}
{%- for message in turns -%}
{{ '<start_of_turn>' ~ ('model' if message.role == 'assistant' else 'user') ~ '\n' ~ message.content | trim ~
   '<end_of_turn>\n' }}
{%- endfor -%}
{{ '<start_of_turn>model\n' if add_generation_prompt }})";

constexpr std::string_view kGemma3 = R"({{- bos_token -}}
{%- for message in turns -%}
{{ '<start_of_turn>' ~ ('model' if message.role == 'assistant' else 'user') ~ '\n' }}
{{- system ~ '\n\n' if loop.first and system is not none -}}
{{ message.content | trim ~ '<end_of_turn>\n' }}
{%- endfor -%}
{{ '<start_of_turn>model\n' if add_generation_prompt }})";

constexpr std::string_view kCommandR = R"({{- bos_token -}}
{%- if system is not none -%}
{{ '<|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|>' ~ system ~ '<|END_OF_TURN_TOKEN|>' }}
{%- endif -%}
{%- for message in turns -%}
{{ '<|START_OF_TURN_TOKEN|><|' ~ ('USER' if message.role == 'user' else 'CHATBOT') ~ '_TOKEN|>' ~
   message.content | trim ~ '<|END_OF_TURN_TOKEN|>' }}
{%- endfor -%}
{{ '<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>' if add_generation_prompt }})";

// Mistral's first format, where [INST] is text.
constexpr std::string_view kMistral1 = R"({{- bos_token -}}
{%- for message in turns -%}
{%- if message.role == 'user' -%}
{{ ' [INST] ' ~ (system ~ '\n\n' if loop.first and system is not none) ~ message.content ~ ' [/INST]' }}
{%- else -%}
{{ ' ' ~ message.content ~ eos_token }}
{%- endif -%}
{%- endfor -%})";

// The third, where it is a token. The system message stands in the last turn.
constexpr std::string_view kMistral3 = R"({{- bos_token -}}
{%- for message in turns -%}
{%- if message.role == 'user' -%}
{{ '[INST] ' ~ (system ~ '\n\n' if loop.last and system is not none) ~ message.content ~ '[/INST]' }}
{%- else -%}
{{ ' ' ~ message.content | trim ~ eos_token }}
{%- endif -%}
{%- endfor -%})";

// The third with the tokenizer Tekken.
constexpr std::string_view kTekken = R"({{- bos_token -}}
{%- for message in turns -%}
{%- if message.role == 'user' -%}
{{ '[INST]' ~ (system ~ '\n\n' if loop.last and system is not none) ~ message.content ~ '[/INST]' }}
{%- else -%}
{{ message.content ~ eos_token }}
{%- endif -%}
{%- endfor -%})";

// The first that fits is taken. Architectures have the names of config.json and of GGUF files.
constexpr KnownFamily kFamilies[] = {
    {.name = "Phi-4", .architectures = "phi3", .tokens = "<|im_start|> <|im_sep|> <|im_end|>", .turns = kPhi4},
    {.name = "ChatML",
     .tokens = "<|im_start|> <|im_end|>",
     .not_tokens = "<|im_sep|> <end_of_utterance>",
     .end_of_turn = "<|im_end|>",
     .turns = kChatMl},
    {.name = "Llama 3.1",
     .architectures = "llama mllama",
     .tokens = "<|start_header_id|> <|end_header_id|> <|eot_id|> <|eom_id|>",
     .end_of_turn = "<|eot_id|>",
     .turns = kLlama31},
    {.name = "Llama 3",
     .architectures = "llama",
     .tokens = "<|start_header_id|> <|end_header_id|> <|eot_id|>",
     .not_tokens = "<|eom_id|>",
     .end_of_turn = "<|eot_id|>",
     .turns = kLlama3},
    {.name = "Llama 2",
     .architectures = "llama",
     .not_tokens = "[INST]",
     .vocabulary = 32000,
     .words = "llama 2 chat",
     .alternates = true,
     .turns = kLlama2},
    {.name = "Gemma 3",
     .architectures = "gemma3 gemma3_text",
     .tokens = "<start_of_turn> <end_of_turn>",
     .end_of_turn = "<end_of_turn>",
     .words = "gemma it",
     .alternates = true,
     .turns = kGemma3},
    {.name = "Gemma",
     .architectures = "gemma gemma2",
     .tokens = "<start_of_turn> <end_of_turn>",
     .end_of_turn = "<end_of_turn>",
     .words = "gemma it",
     .alternates = true,
     .turns = kGemma},
    {.name = "Phi-3",
     .architectures = "phi3",
     .tokens = "<|system|> <|user|> <|assistant|> <|end|> <|placeholder1|>",
     .turns = kPhi3},
    {.name = "Command R",
     .architectures = "cohere command-r",
     .tokens = "<|START_OF_TURN_TOKEN|> <|SYSTEM_TOKEN|> <|USER_TOKEN|> <|CHATBOT_TOKEN|>",
     .end_of_turn = "<|END_OF_TURN_TOKEN|>",
     .alternates = true,
     .turns = kCommandR},
    {.name = "Mistral, version 3",
     .architectures = "mistral mixtral llama",
     .tokens = "[INST] [/INST] [AVAILABLE_TOOLS]",
     .not_tokens = "[SYSTEM_PROMPT]",
     .vocabulary = 32768,
     .words = "mistral instruct",
     .alternates = true,
     .turns = kMistral3},
    {.name = "Mistral, version 3, Tekken",
     .architectures = "mistral llama",
     .tokens = "[INST] [/INST] [AVAILABLE_TOOLS]",
     .not_tokens = "[SYSTEM_PROMPT]",
     .vocabulary = 131072,
     .words = "mistral instruct",
     .alternates = true,
     .turns = kTekken},
    {.name = "Mistral, version 1",
     .architectures = "mistral llama",
     .not_tokens = "[INST]",
     .vocabulary = 32000,
     .words = "mistral instruct",
     .alternates = true,
     .turns = kMistral1},
    {.name = "Mistral, version 1",
     .architectures = "mixtral llama",
     .not_tokens = "[INST]",
     .vocabulary = 32000,
     .words = "mixtral instruct",
     .alternates = true,
     .turns = kMistral1},
    {.name = "Zephyr", .architectures = "mistral llama stablelm", .words = "zephyr", .turns = kZephyr},
};

template <typename Predicate>
bool each_word(std::string_view words, Predicate holds) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    if (!holds(words.substr(0, end))) return false;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return true;
}

bool shows_chat(const KnownFamily& family, const ModelSigns& signs) {
  if (family.end_of_turn.empty() && family.words.empty()) return true;
  if (!family.end_of_turn.empty() && signs.ends_with(family.end_of_turn)) return true;
  return !family.words.empty() &&
         each_word(family.words, [&](std::string_view word) { return signs.words.contains(word); });
}

bool fits(const KnownFamily& family, const ModelSigns& signs) {
  const bool is_other =
      each_word(family.architectures, [&](std::string_view name) { return name != signs.architecture; });
  if (is_other && !family.architectures.empty()) return false;
  if (family.vocabulary != 0 && signs.tokenizer->vocabulary_size() != family.vocabulary) return false;
  return each_word(family.tokens, [&](std::string_view token) { return signs.has_token(token); }) &&
         each_word(family.not_tokens, [&](std::string_view token) { return !signs.has_token(token); }) &&
         shows_chat(family, signs);
}

}  // namespace

const KnownFamily* find_family(const ModelSigns& signs) {
  if (!signs.tokenizer || !signs.generates) return nullptr;
  const auto* found = std::ranges::find_if(kFamilies, [&](const KnownFamily& family) { return fits(family, signs); });
  return found == std::ranges::end(kFamilies) ? nullptr : found;
}

std::string template_of(const KnownFamily& family) {
  std::string text(kChecks);
  if (family.alternates) text += kAlternating;
  return text.append(family.turns);
}

}  // namespace alate::tokenizers::chat_templates
