// alate generate and alate chat, with a tiny model.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "formats/json.h"
#include "formats/tensor_file.h"
#include "program.h"
#include "tests/golden/tiny_generators.h"
#include "tests/unit/base/temporary_folder.h"

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
  EXPECT_NE(done.error.find("/clear          forget the conversation"), std::string::npos) << done.error;
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

TEST_F(CliGenerate, ForwardContinuesRowsGreedily) {
  const std::string ids = folder_.path() / "ids.safetensors", out = folder_.path() / "out.safetensors";
  const std::vector<formats::NamedTensor> inputs = {{"input_ids", Tensor::from<std::int64_t>({1, 3}, {1, 4, 5})}};
  formats::write_tensors(ids, inputs);
  const std::string shapes = good({"forward", "--inputs", ids, "--outputs", out, "--greedy", "7"});
  EXPECT_NE(shapes.find("greedy_ids i64[1,7]"), std::string::npos) << shapes;
}

}  // namespace
}  // namespace alate::tests
