// Chat templates in the manner of families, each with what tells it apart where tools are concerned.
#pragma once

#include <string_view>

namespace alate::tests {

// ChatML without tools: any role is written as it stands.
inline constexpr std::string_view kPlainTemplate =
    R"({% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %})";

inline constexpr std::string_view kQwenTemplate =
    R"({% if tools %}<|system|>{% if messages[0].role == 'system' %}{{ messages[0].content + '\n' }}{% endif %}<tools>{% for tool in tools %}{{ '\n' }}{{ tool | tojson }}{% endfor %}</tools> Answer <tool_call>{"name": NAME, "arguments": OBJECT}</tool_call><|end|>{% elif messages[0].role == 'system' %}<|system|>{{ messages[0].content }}<|end|>{% endif %}
{%- for m in messages %}{% if m.role == 'user' or (m.role == 'system' and not loop.first) or (m.role == 'assistant' and not m.tool_calls) %}<|{{ m.role }}|>{{ m.content }}<|end|>
{%- elif m.role == 'assistant' %}<|assistant|>{% if m.content %}{{ m.content }}{% endif %}{% for call in m.tool_calls %}<tool_call>{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}</tool_call>{% endfor %}<|end|>
{%- elif m.role == 'tool' %}<|user|><tool_response>{{ m.content }}</tool_response><|end|>{% endif %}{% endfor %}{% if add_generation_prompt %}<|assistant|>{% if enable_thinking is defined and enable_thinking is false %}<think></think>{% endif %}{% endif %})";

inline constexpr std::string_view kLlamaTemplate =
    R"({{ bos_token }}{% for m in messages %}{% if m.role == 'system' %}<|system|>{{ m.content }}{% elif m.tool_calls %}{% if m.tool_calls | length != 1 %}{{ raise_exception('only single calls') }}{% endif %}<|assistant|>{"name": "{{ m.tool_calls[0].function.name }}", "parameters": {{ m.tool_calls[0].function.arguments | tojson }}}
{%- elif m.role == 'tool' %}<|ipython|>{{ m.content }}{% else %}<|{{ m.role }}|>{{ m.content }}{% endif %}<|eot|>{% if loop.first and tools %}{{ tools | tojson }}{% endif %}{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %})";

inline constexpr std::string_view kMistralTemplate =
    R"({{ bos_token }}{% for m in messages %}{% if m.role == 'user' %}{% if loop.last and tools %}[AVAILABLE_TOOLS]{{ tools | tojson }}[/AVAILABLE_TOOLS]{% endif %}[INST]{{ m.content }}[/INST]
{%- elif m.tool_calls %}[TOOL_CALLS][{% for call in m.tool_calls %}{% if call.id | length != 9 %}{{ raise_exception('ids have length 9') }}{% endif %}{{ {'name': call.function.name, 'arguments': call.function.arguments, 'id': call.id} | tojson }}{% if not loop.last %}, {% endif %}{% endfor %}]{{ eos_token }}
{%- elif m.role == 'tool' %}{% if m.tool_call_id | length != 9 %}{{ raise_exception('ids have length 9') }}{% endif %}[TOOL_RESULTS]{{ m.content }}[/TOOL_RESULTS]
{%- elif m.role == 'assistant' %}{{ m.content }}{{ eos_token }}{% else %}{{ raise_exception('no such role') }}{% endif %}{% endfor %}{% if tools and messages[-1].role != 'user' %}[AVAILABLE_TOOLS]{{ tools | tojson }}{% endif %})";

inline constexpr std::string_view kPhiTemplate =
    R"({% for m in messages %}{% if m['role'] == 'system' and 'tools' in m and m['tools'] is not none %}{{ '<|system|>' + m['content'] + '<|tool|>' + m['tools'] + '<|/tool|><|end|>' }}{% else %}{{ '<|' + m['role'] + '|>' + m['content'] + '<|end|>' }}{% endif %}{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %})";

inline constexpr std::string_view kSmolTemplate =
    R"({% if xml_tools %}<tools>{% for tool in xml_tools %}{{ tool }}{% endfor %}</tools> Write <tool_call>{"name": NAME, "arguments": OBJECT}</tool_call>.{% endif %}{% for m in messages %}{% set content = m.content if m.content is string else '' %}<|{{ 'user' if m.role == 'tool' else m.role }}|>{{ content }}<|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %})";

// The arguments are added to text, and contents must be there.
inline constexpr std::string_view kTextArgumentsTemplate =
    R"({% if tools %}{{ tools | tojson }}{% endif %}{% for m in messages %}{{ '<|' + m.role + '|>' + m.content }}{% for call in m.tool_calls or [] %}{{ '<tool_call>{"name": "' + call.function.name + '", "arguments": ' + call.function.arguments + '}</tool_call>' }}{% endfor %}{% endfor %})";

// No system, and roles alternate.
inline constexpr std::string_view kGemmaTemplate =
    R"({{ bos_token }}{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles must alternate') }}{% endif %}<start>{{ 'model' if m.role == 'assistant' else m.role }}
{{ m.content | trim }}<end>{% endfor %}{% if add_generation_prompt %}<start>model
{% endif %})";

// Tools are listed, but calls are of a form that is not known.
inline constexpr std::string_view kUnknownFormatTemplate =
    R"({% if tools %}{{ tools | tojson }}{% endif %}{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% for call in m.tool_calls or [] %}@{{ call.function.name }}@{{ call.function.arguments | tojson }}{% endfor %}{% endfor %})";

// Nor are these, though the prompt speaks of a tag that is.
inline constexpr std::string_view kUnknownTagsTemplate =
    R"({% if tools %}{{ tools | tojson }} Write <tool_call><invoke tool=NAME></tool_call>.{% endif %}{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% for call in m.tool_calls or [] %}<tool_call><invoke tool={{ call.function.name }}>{{ call.function.arguments | tojson }}</tool_call>{% endfor %}{% endfor %})";

}  // namespace alate::tests
