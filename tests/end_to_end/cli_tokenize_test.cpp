// alate tokenize: recorded encodings over JSON lines, and decoding.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>

#include "program.h"
#include "tests/golden/tokenizers/golden_cases.h"
#include "tests/unit/base/temporary_folder.h"
#include "tiny_models.h"

namespace alate::tests {
namespace {

std::string tokenizer_file(const std::string& name) { return (golden_folder() / name / "tokenizer.json").string(); }

std::vector<Json> encode(const std::vector<std::string>& arguments, const std::string& input) {
  std::vector<std::string> all = {"tokenize", tokenizer_file("cased"), "--output", "jsonl"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  const ProgramRun run = run_program(all, {.input = input});
  EXPECT_EQ(run.exit_code, 0) << run.error;
  std::vector<Json> out;
  for (const std::string& line : lines_of(run.out)) out.push_back(formats::parse_json(line, "line"));
  return out;
}

std::string keys_of(const Json& object) {
  std::string keys;
  for (const auto& [key, value] : object.as_object("object")) keys += key + " ";
  return keys;
}

std::string member(const Json& object, const std::string& key) { return formats::to_json_text(*object.find(key)); }

// The library is held to the reference by its own tests; here, that nothing is lost between it and the user.
void expect_same(const Json& got, const Encoding& want) {
  EXPECT_EQ(listed(*got.find("ids")), listed(want.ids));
  EXPECT_EQ(listed(*got.find("tokens")), listed(want.tokens));
  EXPECT_EQ(listed(*got.find("type_ids")), listed(want.type_ids));
  EXPECT_EQ(listed(*got.find("special_mask")), listed(want.special_mask));
  EXPECT_EQ(listed(*got.find("offsets")), listed(want.offsets));
  EXPECT_EQ(listed(*got.find("byte_offsets")), listed(want.byte_offsets));
}

TEST(CliTokenize, EveryTextOfTheCorpusIsEncodedAsByTheLibrary) {
  const Tokenizer tokenizer = Tokenizer::load(tokenizer_file("cased"));
  std::string input;
  std::vector<std::string> texts;
  for (const Json& entry : read_jsonl(golden_folder() / "corpus.jsonl")) {
    texts.push_back(corpus_text(entry));
    input += "{\"text\":";
    formats::append_json_string(input, texts.back());  // invalid UTF-8 goes through as it is
    input += "}\n";
  }
  const std::vector<Json> got = encode({"--input", "jsonl"}, input);
  ASSERT_EQ(got.size(), texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    SCOPED_TRACE("line " + std::to_string(i));
    expect_same(got[i], tokenizer.encode(texts[i]));
  }
}

TEST(CliTokenize, ObjectsHaveExactlyTheKeysOfTheContract) {
  const std::vector<Json> got = encode({}, "What is a token?\n\n");
  ASSERT_EQ(got.size(), 2u);
  for (const Json& each : got) EXPECT_EQ(keys_of(each), "ids tokens type_ids special_mask offsets byte_offsets ");
  EXPECT_EQ(member(got[1], "offsets"), "[[0,0],[0,0]]");
  EXPECT_EQ(member(got[1], "special_mask"), "[1,1]");
}

TEST(CliTokenize, PairsComeFromJsonLines) {
  const Tokenizer tokenizer = Tokenizer::load(tokenizer_file("cased"));
  const std::vector<Json> got = encode(
      {"--input", "jsonl"}, "{\"text\": \"first\\ntext\", \"pair\": \"second\"}\n{\"text\": \"x\", \"pair\": null}\n");
  ASSERT_EQ(got.size(), 2u);
  expect_same(got[0], tokenizer.encode_pair("first\ntext", "second"));
  expect_same(got[1], tokenizer.encode("x"));
}

TEST(CliTokenize, CutsOnlyWhenAsked) {
  const Tokenizer tokenizer = Tokenizer::load(tokenizer_file("cased"));
  const std::string text = "one two three four five six seven eight nine ten";
  EncodeOptions options;
  options.max_length = 6;
  options.side = Side::left;
  options.stride = 2;
  const Encoding want = tokenizer.encode(text, options);
  ASSERT_FALSE(want.overflowing.empty());
  const Json got = encode({"--max-length", "6", "--truncation-side", "left", "--stride", "2"}, text).at(0);
  expect_same(got, want);
  const Json::Array& windows = got.find("overflowing")->as_array("overflowing");
  ASSERT_EQ(windows.size(), want.overflowing.size());
  for (std::size_t i = 0; i < windows.size(); ++i) expect_same(windows[i], want.overflowing[i]);

  expect_same(encode({}, text).at(0), tokenizer.encode(text));
  EXPECT_EQ(member(encode({"--max-length", "60", "--stride", "2"}, text).at(0), "overflowing"), "[]");
}

TEST(CliTokenize, PadsToALengthOrToTheLongestText) {
  const Tokenizer tokenizer = Tokenizer::load(tokenizer_file("cased"));
  const std::int32_t pad = tokenizer.token_to_id("[PAD]").value();
  const Padding padding{.length = 12, .side = Side::left, .id = pad};
  const std::vector<Json> fixed =
      encode({"--padding", "10", "--pad-to-multiple", "4", "--padding-side", "left"}, "plain\na longer text\n");
  ASSERT_EQ(fixed.size(), 2u);
  expect_same(fixed[1], tokenizer.encode("a longer text", {.padding = padding}));
  EXPECT_EQ(member(fixed[0], "attention_mask").substr(0, 7), "[0,0,0,");

  const std::vector<Json> longest = encode({"--padding", "longest"}, "plain\na much longer text\n");
  ASSERT_EQ(longest.size(), 2u);
  EXPECT_EQ(longest[0].find("ids")->as_array("ids").size(), longest[1].find("ids")->as_array("ids").size());
  EXPECT_EQ(member(longest[1], "attention_mask").find('0'), std::string::npos);
  EXPECT_NE(member(longest[0], "attention_mask").find('0'), std::string::npos);
}

TEST(CliTokenize, SaysThatThePaddingTokenIsUnknown) {
  const ProgramRun run =
      run_program({"tokenize", tokenizer_file("cased"), "plain", "--padding", "8", "--pad-token", "no such token"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.error.find("no such token"), std::string::npos);
}

TEST(CliTokenize, ListsWordsWhenAsked) {
  const Json got = encode({"--words", "--input", "jsonl"}, R"({"text":"one two","pair":"three"})").at(0);
  EXPECT_EQ(keys_of(got), "ids tokens type_ids special_mask offsets byte_offsets word_ids sequence_ids ");
  const std::string sequences = member(got, "sequence_ids");
  EXPECT_EQ(sequences.substr(0, 8), "[null,0,");
  EXPECT_EQ(sequences.substr(sequences.size() - 8), ",1,null]");
}

TEST(CliTokenize, CleansUpSpacesWhenAsked) {
  const std::string model = tiny_model("st_mean").string();
  const ProgramRun encoded = run_program({"tokenize", model, "--output", "jsonl"}, {.input = "the cat sat\n"});
  EXPECT_EQ(
      run_program({"tokenize", model, "--decode", "--skip-special", "--clean-up-spaces"}, {.input = encoded.out}).out,
      "the cat sat\n");
}

TEST(CliTokenize, LeavesSpecialTokensOutWhenAsked) {
  const Tokenizer tokenizer = Tokenizer::load(tokenizer_file("cased"));
  EncodeOptions options;
  options.add_special_tokens = false;
  expect_same(encode({"--no-special"}, "plain").at(0), tokenizer.encode("plain", options));
}

TEST(CliTokenize, StrategiesCutTheirSideOfAPair) {
  const Tokenizer tokenizer = Tokenizer::load(tokenizer_file("cased"));
  const std::map<std::string, Truncation> strategies = {{"longest_first", Truncation::longest_first},
                                                        {"only_first", Truncation::only_first},
                                                        {"only_second", Truncation::only_second}};
  for (const auto& [name, strategy] : strategies) {
    EncodeOptions options;
    options.max_length = 48;
    options.strategy = strategy;
    const std::string first = "one two three four five six seven", second = "eight nine ten eleven twelve";
    const Encoding want = tokenizer.encode_pair(first, second, options);
    ASSERT_TRUE(want.truncated);
    const std::string line = formats::to_json_text(Json::Object{{"text", first}, {"pair", second}});
    expect_same(encode({"--input", "jsonl", "--max-length", "48", "--truncation", name}, line).at(0), want);
  }
}

std::vector<std::string> encode_ids(const std::string& model, const std::string& text) {
  const ProgramRun run = run_program({"tokenize", model, text, "--output", "jsonl"});
  std::vector<std::string> ids;
  const Json encoded = formats::parse_json(run.out, "line");
  for (const Json& id : encoded.find("ids")->as_array("ids")) ids.push_back(std::to_string(id.as_int("id")));
  return ids;
}

TEST(CliTokenize, DecodesWhatItEncoded) {
  const std::vector<std::string> base = {"tokenize", tiny_model("st_mean").string()};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), base.begin(), base.end());
    return more;
  };
  const ProgramRun encoded = run_program(with({"--output", "jsonl"}), {.input = "the cat sat\nfox\n"});
  EXPECT_EQ(run_program(with({"--decode", "--skip-special", "--output", "jsonl"}), {.input = encoded.out}).out,
            "{\"text\":\"the cat sat\"}\n{\"text\":\"fox\"}\n");
  EXPECT_EQ(run_program(with({"--decode"}), {.input = encoded.out}).out, "[CLS] the cat sat [SEP]\n[CLS] fox [SEP]\n");
}

TEST(CliTokenize, DecodesPlainIds) {
  const std::string model = tiny_model("st_mean").string();
  const auto decoded = [&](const std::vector<std::string>& more, const std::string& input = "") {
    std::vector<std::string> arguments = {"tokenize", model, "--decode", "--skip-special"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProgramRun run = run_program(arguments, {.input = input});
    EXPECT_EQ(run.exit_code, 0) << run.error;
    return run.out;
  };
  const auto ids = encode_ids(model, "the cat sat");
  std::string line, list;
  for (const std::string& id : ids) {
    line += (line.empty() ? "" : " ") + id;
    list += (list.empty() ? "" : ",") + id;
  }
  EXPECT_EQ(decoded(ids), "the cat sat\n");                 // each an argument
  EXPECT_EQ(decoded({line}), "the cat sat\n");              // all in one
  EXPECT_EQ(decoded({list}), "the cat sat\n");              // as other tools print them
  EXPECT_EQ(decoded({"[" + list + "]"}), "the cat sat\n");  // as JSON does
  EXPECT_EQ(decoded({"{\"ids\": [" + list + "]}", line}), "the cat sat\nthe cat sat\n");
  EXPECT_EQ(decoded({}, line + "\n\n{\"ids\": [" + list + "], \"id\": 7}\n" + list + "\r\n"),
            "the cat sat\nthe cat sat\nthe cat sat\n");
  EXPECT_EQ(decoded({"--output", "jsonl"}, line), "{\"text\":\"the cat sat\"}\n");
}

TEST(CliTokenize, RendersConversationsByTheTemplate) {
  const base::TemporaryFolder folder;
  const std::string model = (folder.path() / "chat.jinja").string();
  std::ofstream(model) << "{% for m in messages %}{% if m.role == 'x' %}{{ raise_exception('no x') }}{% endif %}"
                          "<{{ m.role }}>{{ m.content }}{% endfor %}{{ tools }}{{ add_generation_prompt }}";
  const std::string line = R"({"messages": [{"role": "user", "content": "a\nb"}], "tools": [{"n": 1.0}]})";
  const auto rendered = [&](const std::vector<std::string>& more, const std::string& input) {
    std::vector<std::string> arguments = {"tokenize", model, "--template"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments, {.input = input});
  };
  const ProgramRun run = rendered({"--output", "jsonl"}, line + "\n\n" + line + "\n");
  EXPECT_EQ(run.exit_code, 0) << run.error;
  const std::string text = "{\"text\":\"<user>a\\nb[{'n': 1.0}]False\"}\n";
  EXPECT_EQ(run.out, text + text);
  EXPECT_EQ(rendered({line}, "").out, "<user>a\nb[{'n': 1.0}]False\n");

  const std::string refused = R"({"messages": [{"role": "x"}]})";
  const ProgramRun failed = rendered({"--output", "jsonl"}, line + "\n" + refused + "\n");
  EXPECT_EQ(failed.exit_code, 2);
  EXPECT_NE(failed.error.find("line 2 of standard input: no x"), std::string::npos) << failed.error;
  const ProgramRun skipped = rendered({"--output", "jsonl", "--on-error", "skip"}, refused + "\n" + line + "\n");
  EXPECT_NE(skipped.out.find("no x"), std::string::npos) << skipped.out;
  EXPECT_NE(skipped.out.find(text), std::string::npos) << skipped.out;
  EXPECT_EQ(rendered({"--decode"}, "").exit_code, 2);
}

TEST(CliTokenize, TextOutputShowsIdPlaceAndToken) {
  const ProgramRun run = run_program({"tokenize", tiny_model("st_mean").string(), "the cat"});
  EXPECT_EQ(run.exit_code, 0) << run.error;
  const auto lines = lines_of(run.out);
  ASSERT_GE(lines.size(), 4u);
  EXPECT_EQ(lines[0], "       2           -  [CLS]");
  EXPECT_EQ(lines[2], "      75         4-7  cat");
}

TEST(CliTokenize, LinesThatAreNoRequestsAreBadInput) {
  const std::string model = tokenizer_file("cased");
  const auto error_of = [&](const std::vector<std::string>& more, const std::string& input) {
    std::vector<std::string> arguments = {"tokenize", model};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProgramRun run = run_program(arguments, {.input = input});
    EXPECT_EQ(run.exit_code, 2) << run.error;
    EXPECT_EQ(lines_of(run.error).size(), 1u) << run.error;
    return run.error;
  };
  EXPECT_NE(error_of({"--input", "jsonl"}, "{\"text\": \"a\"}\n{\"text\": 5}\n").find("line 2 of standard input"),
            std::string::npos);
  const std::string broken = error_of({"--input", "jsonl"}, "{\"text\": \"secret");
  EXPECT_NE(broken.find("line 1 of standard input"), std::string::npos);
  EXPECT_EQ(broken.find("secret"), std::string::npos) << "texts must not appear in errors";
  error_of({"--decode"}, "{\"tokens\": []}\n");
  error_of({"--decode"}, "{\"ids\": [-1]}\n");
  error_of({"--decode"}, "{\"ids\": [1.5]}\n");
  EXPECT_NE(error_of({"--decode"}, "1 2\nthe cat\n").find("line 2 of standard input"), std::string::npos);
  EXPECT_NE(error_of({"--decode", "1", "two"}, "").find("101 2054 102"), std::string::npos);
  error_of({"--decode", "99999999999"}, "");
  error_of({"--decode", "1", "--output", "safetensors", "--out", "/dev/null"}, "");
  error_of({"--stride", "2"}, "a\n");
  error_of({"--truncation", "middle"}, "a\n");
}

}  // namespace
}  // namespace alate::tests
