// Chat templates against recorded renderings of transformers, and against templates that mean harm.
#include "alate/chat_template.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "alate/error.h"
#include "base/files/mapped_file.h"
#include "formats/json.h"
#include "tests/fuzz/template_grammar.h"
#include "tests/source_folder.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"
#include "tests/unit/formats/gguf_bytes.h"

namespace alate::tests {
namespace {

using base::error_of;
using formats::Json;

const ChatTemplate::SpecialTokens kTokens{
    {"bos_token", "<s>"}, {"eos_token", "</s>"}, {"pad_token", "<pad>"}, {"unk_token", "<unk>"}};
constexpr std::string_view kHello = R"([{"role": "user", "content": "hello"}])";

std::map<std::string, std::string> texts_of(const Json& value) {
  if (value.is_string()) return {{"default", value.as_string("template")}};
  std::map<std::string, std::string> texts;
  for (const auto& [name, text] : value.as_object("template")) texts[name] = text.as_string(name);
  return texts;
}

// The text of a case's request, which reaches the template with its numbers as they are written.
std::string request_of(const std::string& line) {
  const std::string key = "\"request\": ";
  std::size_t end = line.rfind(", \"text\": ");
  if (end == std::string::npos) end = line.rfind(", \"refused\": true}");
  const std::size_t begin = line.find(key) + key.size();
  return line.substr(begin, end - begin);
}

TEST(ChatTemplate, RendersAsTransformersDoes) {
  std::ifstream file(source_folder() / "tests/golden/chat_templates/cases.jsonl");
  std::size_t count = 0;
  for (std::string line; std::getline(file, line); ++count) {
    const Json golden = formats::parse_json(line, "case", {.max_depth = 200});
    SCOPED_TRACE(line.substr(0, 2000));
    try {
      const ChatTemplate chat(texts_of(*golden.find("template")), kTokens, "golden");
      const RenderedChat result = chat.render_request(
          golden.get_bool("refused", false) ? formats::to_json_text(*golden.find("request")) : request_of(line));
      ASSERT_NE(golden.find("text"), nullptr) << "rendered: " << result.text;
      EXPECT_EQ(result.text, golden.get_string("text", ""));
      if (const Json* generated = golden.find("generated")) {
        Json::Array spans;
        for (const auto& [begin, end] : result.generated) {
          spans.push_back(Json::Array{Json(std::uint64_t{begin}), Json(std::uint64_t{end})});
        }
        EXPECT_EQ(formats::to_json_text(Json(spans)), formats::to_json_text(*generated));
      }
    } catch (const Error& error) {
      EXPECT_TRUE(golden.get_bool("refused", false)) << error.what();
      EXPECT_NE(error.code(), ErrorCode::internal) << error.what();
    }
  }
  EXPECT_GE(count, 480U);
}

TEST(ChatTemplate, TakesMessagesOptionsAndJsonAlike) {
  const ChatTemplate chat(
      "{{ bos_token }}{% for m in messages %}{{ m.role }}:{{ m.content }};{% endfor %}{{ tools }}{{ x }}", kTokens);
  const ChatMessage messages[] = {{"user", "a"}, {"assistant", "b"}};
  EXPECT_EQ(chat.render(messages).text, "<s>user:a;assistant:b;None");
  EXPECT_EQ(chat.render(kHello, {.tools = "[{\"n\": 1}]", .variables = "{\"x\": [1.0]}"}).text,
            "<s>user:hello;[{'n': 1}][1.0]");
  EXPECT_EQ(chat.render(messages, {.continue_final_message = "content"}).text, "<s>user:a;assistant:b");
  EXPECT_EQ(chat.render(kHello, {.chat_template = "{{ messages | length }}"}).text, "1");
}

TEST(ChatTemplate, RaiseExceptionIsTheErrorsMessage) {
  const ChatTemplate chat("{{ raise_exception('Roles must\nalternate') }}");
  const Error error = error_of([&] { chat.render(kHello); });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(error.message(), "Roles must alternate");
}

TEST(ChatTemplate, NamesTheLineOfAnError) {
  const Error syntax = error_of([] { ChatTemplate("a\nb{% if %}", {}, "t.jinja"); });
  EXPECT_EQ(syntax.code(), ErrorCode::corrupt);
  EXPECT_EQ(syntax.message(), "t.jinja, line 2: expected an expression, got the end of the statement");
  const Error other = error_of([] { ChatTemplate("\n\n{% include 'x' %}", {}, "t.jinja").render(kHello); });
  EXPECT_EQ(other.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(other.message(),
            "t.jinja, line 3: the tag include needs another template, and a chat template has none beside it");
  const ChatTemplate chat("a\n\n{{ nothing.x }}", {}, "t.jinja");
  const Error error = error_of([&] { chat.render(kHello); });
  EXPECT_EQ(error.message(), "t.jinja, line 3: 'nothing' is undefined");
}

void expect_stopped(const std::string& text, ErrorCode code) {
  SCOPED_TRACE(text.substr(0, 200));
  const Error error = error_of([&] { ChatTemplate(text).render(kHello); });
  EXPECT_EQ(error.code(), code) << error.what();
}

std::string repeated(std::string_view text, std::size_t count) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += text;
  return all;
}

TEST(HostileChatTemplate, WorkAndMemoryAreLimited) {
  for (const std::string& text : std::vector<std::string>{
           "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}",
           "{% for a in range(99999) %}{{ range(99999)|list|length }}{% endfor %}",
           "{{ 'x' * 10000000000 }}",
           "{{ [0] * 10000000000 }}",
           "{% set n = namespace(s='xxxxxxxx') %}{% for i in range(99) %}{% set n.s = n.s ~ n.s %}{% endfor %}",
           "{% set n = namespace(l=[1]) %}{% for i in range(99) %}{% set n.l = n.l + n.l %}{% endfor %}",
           "{% set n = namespace(l=[]) %}{% for i in range(99999) %}{% set n.l = [n.l] %}{% endfor %}",
           "{% set n = namespace(l=[1]) %}{% for i in range(9999) %}{% set n.l = n.l|map('string') %}{% endfor %}{{ "
           "n.l|list }}",
           "{{ 'x'.ljust(99999999999) }}",
           "{{ '%99999999999d' % 1 }}",
           "{{ '{:99999999999}'.format(1) }}",
           "{{ ('x' * 4000000).replace('', 'y' * 4000000) }}",
           "{{ 'x'|indent(99999999999, true) }}",
           "{{ [1]|batch(99999999999, 0)|list }}",
           "{{ 'x'|center(99999999999) }}",
           "{{ [1]|tojson(indent=99999999) }}",
           "{{ 10 ** 1000000000 }}",
           "{{ range(10 ** 30) }}",
           "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
           "{% macro m(n) %}{{ m(n + 1) ~ m(n + 1) }}{% endmacro %}{{ m(0) }}",
           "{% for x in [[]] recursive %}{{ loop([[]]) }}{% endfor %}",
           "{% set n = namespace() %}{% set n.n = n %}{{ n }}",
           "{{ ('a@' * 500000)|urlize }}",
           "{{ ('http://' ~ 'a.' * 500000)|urlize }}",
           "{{ ('((((' * 500000)|urlize }}",
           "{{ ('ab ' * 90000)|wordwrap(1, wrapstring='x' * 9999) }}",
           "{{ ('a' * 4000000).translate({97: 'b' * 1000}) }}",
           "{% set n = namespace(l=[1]) %}{% for i in range(250) %}{% set n.l = [n.l, 'x' * 10000] %}{% endfor %}{{ "
           "n.l|pprint }}",
           "{% macro m() %}{% block b %}{{ m() }}{% endblock %}{% endmacro %}{{ m() }}",
           "{% for i in range(99999) %}{{ ('<' * 100000)|striptags }}{% endfor %}",
       }) {
    expect_stopped(text, ErrorCode::resource_exhausted);
  }
}

TEST(HostileChatTemplate, NestingIsLimited) {
  expect_stopped("{{ " + repeated("(", 5000) + "1" + repeated(")", 5000) + " }}", ErrorCode::corrupt);
  expect_stopped("{{ " + repeated("[", 5000) + " }}", ErrorCode::corrupt);
  expect_stopped("{{ " + repeated("not ", 5000) + "1 }}", ErrorCode::corrupt);
  expect_stopped("{{ " + repeated("-", 5000) + "1 }}", ErrorCode::corrupt);
  expect_stopped("{{ 1" + repeated("+1", 50000) + " }}", ErrorCode::corrupt);
  expect_stopped("{{ a" + repeated(".a", 50000) + " }}", ErrorCode::corrupt);
  expect_stopped("{{ a" + repeated("|e", 50000) + " }}", ErrorCode::corrupt);
  expect_stopped(repeated("{% if a %}", 5000), ErrorCode::corrupt);
  expect_stopped("{{ 1" + repeated(" if 1 else 1", 5000) + " }}", ErrorCode::corrupt);
  expect_stopped(repeated("{% if a %}{{ b }}{% endif %}", 100000), ErrorCode::resource_exhausted);
  std::string below = repeated("{% if a %}", 100);
  for (int i = 0; i < 9000; ++i) below += "{{ b" + std::to_string(i) + " }}";
  expect_stopped(below + repeated("{% endif %}", 100), ErrorCode::resource_exhausted);
  std::string names;
  for (int i = 0; i < 9000; ++i) names += "{% if a %}{{ b" + std::to_string(i) + " }}{% endif %}";
  expect_stopped(names, ErrorCode::resource_exhausted);
}

TEST(HostileChatTemplate, IteratorsRefuseToRunInsideThemselves) {
  const std::string loop = "{% set ns = namespace(l=none) %}{% for x in [1, 2, 3] if ns.l is none or ";
  for (const std::string_view asks :
       {"ns.l.length < 0", "ns.l.last", "ns.l.nextitem", "ns.l.revindex", "ns.l", "ns.l|string"}) {
    const ChatTemplate chat(loop + std::string(asks) + " %}{% set ns.l = loop %}{{ x }}{% endfor %}", {}, "t");
    EXPECT_EQ(error_of([&] { chat.render(kHello); }).message(), "t, line 1: generator already executing") << asks;
  }
  const ChatTemplate chat(
      "{% set ns = namespace() %}{% set g = [ns]|map(attribute='g')|map('list') %}{% set ns.g = g %}{{ g|list }}", {},
      "t");
  EXPECT_EQ(error_of([&] { chat.render(kHello); }).message(), "t, line 1: generator already executing");
}

// Values that are destroyed with what they refer to are no deeper than lists.
TEST(HostileChatTemplate, ValuesNestNoDeeperThroughObjects) {
  const std::string begin = "{% set n = namespace(l=1) %}{% for i in range(90000) %}{% set n.l = ";
  for (const std::string_view deeper :
       {"[1]|map('default', n.l)", "[1]|map('default', default_value=n.l)", "[1]|select('in', n.l)",
        "{'a': n.l}.keys().isdisjoint", "{'a': n.l}.keys", "cycler(n.l).next", "joiner(n.l)", "[n.l]|batch(1)"}) {
    expect_stopped(begin + std::string(deeper) + " %}{% endfor %}", ErrorCode::resource_exhausted);
  }
  // What `unique` has seen is found while it runs.
  const ChatTemplate chat(
      "{#" + repeated("allows more work ", 3000) +
      "#}{% set n = namespace(l=1) %}{% for i in range(60000) %}{% set g = [n]|map(attribute='l')|unique %}"
      "{% set last = g|first %}{% set n.l = g %}{% endfor %}deep");
  EXPECT_EQ(chat.render(kHello).text, "deep");
}

// Each would take far more of the stack than the nesting of expressions that is allowed, if it were not counted as
// such.
TEST(HostileChatTemplate, NestingInsideValuesAndFiltersIsCounted) {
  expect_stopped("{% macro m() %}{% filter replace('a', m())" + repeated("|trim", 590) +
                     " %}x{% endfilter %}{% endmacro %}{{ m() }}",
                 ErrorCode::resource_exhausted);
  const std::string asks_itself =
      "{% set n = namespace() %}{% macro m() %}{% for x in [1, 2] if x == 1 or m() %}{% set n.l = ";
  for (const std::string_view inside :
       {"[loop]|map(attribute='length') %}{% for i in range(300) %}{% set n.l = n.l|unique %}{% endfor %}{{ n.l|first "
        "}}",
        "[loop]|map(attribute='length') %}{% for i in range(300) %}{% set n.l = n.l|map('abs') %}{% endfor %}{{ "
        "n.l|first }}",
        "loop %}{% for i in range(290) %}{% set n.l = [n.l] %}{% endfor %}{{ n.l }}",
        "loop %}{% for i in range(290) %}{% set n.l = {'a': n.l} %}{% endfor %}{{ n.l|pprint }}"}) {
    expect_stopped(asks_itself + std::string(inside) + "{% endfor %}{% endmacro %}{{ m() }}",
                   ErrorCode::resource_exhausted);
  }
}

// Each looks at a text of a million bytes, or at a thousand names, many times: none costs a few units of work a time.
TEST(HostileChatTemplate, WhatIsLookedAtIsCounted) {
  const std::string given =
      "{% set s = 'a' * 1000000 %}{% set blanks = ' ' * 1000000 %}{% set e = 'é' * 500000 %}{% set d = {s: 1, 'a': 2} "
      "%}"
      "{% set f = '%(a)s' * 100000 %}{% set zeros = '%' ~ '0' * 1000000 ~ 'd' %}{% for i in range(100) %}{% set x = ";
  for (const std::string_view looks : {"blanks|int",
                                       "blanks|float",
                                       "s.isidentifier()",
                                       "s.startswith(s)",
                                       "s.endswith((s, s))",
                                       "e.startswith('é', 1)",
                                       "'\\U0007A000'.translate(e)",
                                       "'x'|truncate(2000000, true, s)",
                                       "'x'.replace('y', s)",
                                       "'x'.find(s)",
                                       "s in 'x'",
                                       "'x'.split(s)",
                                       "'x'.partition(s)",
                                       "'x'.count(s)",
                                       "'x'.rindex(s) if 'x'.rfind(s) > 0",
                                       "'x'|replace(s, '')",
                                       "'{a}'.format_map(d)",
                                       "'{a}'.format(**d)",
                                       "f % {'a': ''}",
                                       "zeros % 1",
                                       "{s: 1}",
                                       "d[s]",
                                       "d.get(s)"}) {
    expect_stopped(given + std::string(looks) + " %}{% endfor %}", ErrorCode::resource_exhausted);
  }
  std::string names, parameters;
  for (int i = 0; i < 1000; ++i) {
    names += "'p" + std::to_string(i) + "': 1, ";
    parameters += (i == 0 ? "p" : ", p") + std::to_string(i);
  }
  const std::string named = "{% set d = {" + names + "} %}";
  expect_stopped(named + "{{ ('{p999}' * 20000).format(**d) }}", ErrorCode::resource_exhausted);
  expect_stopped(
      named + "{% macro m(" + parameters + ") %}{% endmacro %}{% for i in range(100) %}{{ m(**d) }}{% endfor %}",
      ErrorCode::resource_exhausted);
  const std::string long_name(100000, 'n');
  expect_stopped("{% for i in range(20000) %}{% set x = messages." + long_name + " %}{% endfor %}",
                 ErrorCode::resource_exhausted);
  expect_stopped("{% for i in range(20000) %}{% set x = " + long_name + " %}{% endfor %}",
                 ErrorCode::resource_exhausted);
  expect_stopped("{% set n = namespace(l=[]) %}{% for i in range(1500) %}{% set n.l = n.l + [messages." + long_name +
                     "] %}{% endfor %}",
                 ErrorCode::resource_exhausted);
  expect_stopped(
      "{% set l = ['a' * 900 ~ ':'] * 1000 %}{% for i in range(20) %}{{ 'x'|urlize(extra_schemes=l) }}{% endfor %}",
      ErrorCode::resource_exhausted);
}

TEST(HostileChatTemplate, WorkGrowsLittleWithTheTemplatesOwnLength) {
  const std::string loop = "{% for a in range(9999) %}{{ range(400)|list|length }}{% endfor %}";
  expect_stopped(loop, ErrorCode::resource_exhausted);
  expect_stopped("{#" + std::string(250'000, 'c') + "#}" + loop, ErrorCode::resource_exhausted);
}

TEST(HostileChatTemplate, SeesNothingOfTheProgram) {
  for (const std::string text :
       {"{{ ''.__class__.__mro__ }}", "{{ ''['__class__']['__mro__'] }}", "{{ (''|attr('__class__')).__mro__ }}",
        "{{ messages.append(1) }}", "{{ messages[0].update({}) }}", "{{ messages[0].pop('role') }}",
        "{{ '{0.__class__.__init__}'.format('') }}", "{{ '{x.__class__.y}'.format_map({'x': 1}) }}",
        "{{ namespace.__init__.__globals__ }}", "{{ cycler.__init__.__globals__.os }}",
        "{% set n = namespace() %}{% set n.__class__ = 1 %}", "{{ lipsum.__globals__.os }}", "{{ lipsum() }}",
        "{{ [1]|random }}", "{{ self.__init__.x }}"}) {
    expect_stopped(text, ErrorCode::invalid_argument);
  }
}

// What the fuzzer's grammar writes parses, and is rendered or refused.
TEST(HostileChatTemplate, OfAGrammarIsRenderedOrRefused) {
  std::mt19937 random(44);
  int parsed = 0, rendered = 0;
  for (int i = 0; i < 200; ++i) {
    std::vector<std::uint8_t> choices(40);
    for (std::uint8_t& choice : choices) choice = static_cast<std::uint8_t>(random());
    const std::string text = TemplateGrammar(choices).written();
    try {
      const ChatTemplate chat(text);
      ++parsed;
      chat.render(kHello);
      ++rendered;
    } catch (const Error& error) {
      EXPECT_NE(error.code(), ErrorCode::internal) << error.what() << '\n' << text;
    }
  }
  EXPECT_GE(parsed, 190);
  EXPECT_GE(rendered, 20);
}

// A loop over long texts that all match almost everywhere.
TEST(HostileChatTemplate, SearchIsLinear) {
  const std::string haystack = "{% set h = 'a' * 800000 %}{% set n = 'a' * 400000 ~ 'b' %}";
  const ChatTemplate chat(haystack +
                          "{{ n in h }}{{ h.find(n) }}{{ h.rfind(n) }}{{ h.count(n) }}{{ h.split(n)|length }}"
                          "{{ h.rsplit(n)|length }}{{ h.replace(n, '')|length }}{{ h.partition(n)|length }}");
  EXPECT_EQ(chat.render(kHello).text,
            "False-1-1011"
            "8000003");
  EXPECT_EQ(ChatTemplate("{{ ('-' * 350000)|wordwrap(350000)|length }}").render(kHello).text, "350000");
}

class TemplateFiles : public ::testing::Test {
 protected:
  void write(const std::string& name, std::string_view text) {
    std::filesystem::create_directories((folder_.path() / name).parent_path());
    std::ofstream(folder_.path() / name) << text;
  }
  std::string rendered(const ChatOptions& options = {}) const {
    return ChatTemplate::load(folder_.path()).render(kHello, options).text;
  }
  base::TemporaryFolder folder_;
};

TEST_F(TemplateFiles, ComeFromTokenizerConfig) {
  write("tokenizer_config.json",
        R"({"bos_token": "<b>", "eos_token": {"content": "<e>", "__type": "AddedToken"}, "image_token": "<i>",
            "extra_special_tokens": {"video": "<v>"},
            "chat_template": "{{ bos_token }}{{ messages[0].content }}{{ eos_token }}{{ image_token }}{{ video }}"})");
  EXPECT_EQ(rendered(), "<b>hello<e><i><v>");
}

// Recorded by tests/golden/chat_templates/record_class_tokens.py.
TEST_F(TemplateFiles, GetTheTokensOfTheTokenizersClass) {
  const Json classes = formats::parse_json(
      base::read_text_file(source_folder() / "tests/golden/chat_templates/class_tokens.json"), "class_tokens.json");
  for (const auto& [name, tokens] : classes.as_object("classes")) {
    SCOPED_TRACE(name);
    ChatTemplate::SpecialTokens expected;
    for (const auto& [token, text] : tokens.as_object(name)) expected[token] = text.as_string(token);
    write("tokenizer_config.json", R"({"chat_template": "x", "tokenizer_class": ")" + name + "\"}");
    EXPECT_EQ(ChatTemplate::load(folder_.path()).special_tokens(), expected);
  }
  const std::string llama =
      R"({"chat_template": "[{{ bos_token }}{{ eos_token }}]", "tokenizer_class": "LlamaTokenizerFast")";
  write("tokenizer_config.json", llama + "}");
  EXPECT_EQ(rendered(), "[<s></s>]");
  write("tokenizer_config.json", llama + R"(, "bos_token": null, "eos_token": "<e>"})");
  EXPECT_EQ(rendered(), "[<e>]");
}

TEST_F(TemplateFiles, MayBeSeveralByName) {
  write("tokenizer_config.json",
        R"({"chat_template": [{"name": "default", "template": "d"}, {"name": "tool_use", "template": "t"}]})");
  EXPECT_EQ(rendered(), "d");
  EXPECT_EQ(rendered({.tools = "[]"}), "t");
  EXPECT_EQ(rendered({.chat_template = "tool_use"}), "t");
  write("chat_template.jinja", "file");
  write("additional_chat_templates/rag.jinja", "rag");
  EXPECT_EQ(rendered(), "file");
  EXPECT_EQ(rendered({.chat_template = "rag"}), "rag");
  EXPECT_EQ(rendered({.tools = "[]"}), "file");
}

TEST_F(TemplateFiles, MayBeLegacyOrLone) {
  write("chat_template.json", R"({"chat_template": "legacy {{ eos_token }}"})");
  write("special_tokens_map.json", R"({"eos_token": "<e>"})");
  EXPECT_EQ(rendered(), "legacy <e>");
  write("other.jinja", "other {{ eos_token }}");
  EXPECT_EQ(ChatTemplate::load(folder_.path() / "other.jinja").render(kHello).text, "other <e>");
}

TEST_F(TemplateFiles, ComeFromGgufMetadata) {
  using formats::GgufBytes;
  GgufBytes gguf;
  gguf.add("tokenizer.ggml.tokens", formats::GgufType::array, GgufBytes::strings({"a", "<b>", "<e>"}))
      .add_u32("tokenizer.ggml.bos_token_id", 1)
      .add_u32("tokenizer.ggml.eos_token_id", 2)
      .add_text("tokenizer.chat_template.rag", "rag")
      .add_text("tokenizer.chat_template", "{{ bos_token }}{{ messages[0].content }}{{ eos_token }}");
  write("m.gguf", gguf.bytes());
  EXPECT_EQ(rendered(), "<b>hello<e>");
  EXPECT_EQ(rendered({.chat_template = "rag"}), "rag");
  EXPECT_EQ(ChatTemplate::load(folder_.path() / "m.gguf").render(kHello).text, "<b>hello<e>");
}

TEST_F(TemplateFiles, AreNotFoundWhereThereAreNone) {
  write("tokenizer_config.json", "{}");
  EXPECT_EQ(error_of([&] { rendered(); }).code(), ErrorCode::not_found);
  EXPECT_EQ(error_of([&] { ChatTemplate::load(folder_.path() / "none"); }).code(), ErrorCode::not_found);
  write("tokenizer_config.json", R"({"chat_template": [{"name": "default"}]})");
  EXPECT_EQ(error_of([&] { rendered(); }).code(), ErrorCode::corrupt);
}

TEST(ChatRequests, AreRefusedWhereTheirShapeIsWrong) {
  const ChatTemplate chat("{{ messages | length }}");
  for (const std::string_view request :
       {"[]", "{}", R"({"messages": []})", R"({"messages": "x"})", R"({"messages": ["x"]})",
        R"({"messages": [{"role": "user"}], "tools": {"a": 1}})",
        R"({"messages": [{"role": "user"}], "documents": ["d"]})",
        R"({"messages": [{"role": "user"}], "add_generation_prompt": 1})"}) {
    SCOPED_TRACE(request);
    EXPECT_EQ(error_of([&] { chat.render_request(request); }).code(), ErrorCode::invalid_argument);
  }
  EXPECT_EQ(
      chat.render_request(R"({"conversation": [{"role": "user"}], "tools": null, "chat_template_kwargs": {"x": 1}})")
          .text,
      "1");
}

}  // namespace
}  // namespace alate::tests
