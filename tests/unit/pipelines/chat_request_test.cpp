// Conversations as a generator gets them, by a tiny model whose vocabulary are words.
#include "pipelines/generate/chat_request.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alate/chat.h"
#include "alate/error.h"
#include "base/files/mapped_file.h"
#include "pipelines/generate/answer_syntax.h"
#include "pipelines/generate/generator_state.h"
#include "pipelines/generate/text_batch.h"
#include "tests/golden/tiny_generators.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::pipelines {
namespace {

class ChatRequests : public testing::Test {
 protected:
  ChatRequests() { tests::write_tiny_generator(folder_.path() / "model"); }

  TextGenerator generator() const { return TextGenerator::load(folder_.path() / "model"); }

  // Adds special tokens, which have the ids of the vocabulary where that has their texts.
  void add_special_tokens(const std::vector<std::string>& texts) {
    formats::Json::Array added;
    for (const std::string& text : texts)
      added.push_back(formats::Json::Object{{"id", 0},
                                            {"content", text},
                                            {"special", true},
                                            {"single_word", false},
                                            {"lstrip", false},
                                            {"rstrip", false},
                                            {"normalized", false}});
    const std::string text = base::read_text_file(folder_.path() / "model/tokenizer.json");
    folder_.write("model/tokenizer.json", "{\"added_tokens\":" + formats::to_json_text(added) + "," + text.substr(1));
  }

  static ChatRequest request(std::string_view tools = "") {
    ChatRequest result;
    result.messages = formats::parse_json(R"([{"role":"user","content":"w4 w5"}])", "messages");
    if (!tools.empty()) result.tools = formats::parse_json(tools, "tools");
    return result;
  }

  base::TemporaryFolder folder_;
};

TEST_F(ChatRequests, AreTheTokensThatTheTemplateWrites) {
  const TextGenerator model = generator();
  GenerationOptions options;
  const TextPrompt prompt = prepare_chat(model.state(), request(), options, base::Cancellation::never());
  EXPECT_EQ(prompt.ids, (std::vector<std::int32_t>{1, 4, 5, 3}));
  ASSERT_NE(prompt.syntax, nullptr);
  EXPECT_EQ(prompt.syntax->calls(), nullptr);
  EXPECT_FALSE(options.add_special_tokens);
  EXPECT_TRUE(options.stopping.stop_token_ids.empty());
}

TEST_F(ChatRequests, OfModelsWithoutATemplateSaySo) {
  std::filesystem::remove(folder_.path() / "model/chat_template.jinja");
  const TextGenerator model = generator();
  GenerationOptions options;
  const Error error =
      base::error_of([&] { (void)prepare_chat(model.state(), request(), options, base::Cancellation::never()); });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);  // the request's, not a missing file of ours
}

TEST_F(ChatRequests, TokensOfCallsAreShownAndEndTheText) {
  folder_.write(
      "model/chat_template.jinja",
      "{% if tools %}{{ tools | tojson }}{% endif %}{% for m in messages %}{{ m.content }} {% if m.tool_calls %}"
      "{\"name\": \"{{ m.tool_calls[0].function.name }}\", \"parameters\": "
      "{{ m.tool_calls[0].function.arguments | tojson }}}{% endif %}{% endfor %}");
  add_special_tokens({"<|python_tag|>", "<|eom_id|>"});
  const TextGenerator model = generator();
  GenerationOptions options;
  const TextPrompt prompt = prepare_chat(model.state(), request(R"([{"type":"function","function":{"name":"now"}}])"),
                                         options, base::Cancellation::never());
  ASSERT_NE(prompt.syntax->calls(), nullptr);
  EXPECT_EQ(prompt.syntax->calls()->name, "llama3");
  const auto python_tag = model.tokenizer().token_to_id("<|python_tag|>"),
             end = model.tokenizer().token_to_id("<|eom_id|>");
  EXPECT_EQ(prompt.syntax->shown_ids(), std::vector<std::int32_t>{*python_tag});
  EXPECT_EQ(options.stopping.stop_token_ids, std::vector<std::int32_t>{*end});
}

TEST_F(ChatRequests, AConversationSeesTagsOfReasoningThatAreSpecialTokens) {
  // The first token that the model writes opens its reasoning, and another one later closes it.
  GenerationOptions options;
  options.sampling.temperature = 0;
  options.stopping.max_tokens = 24;
  std::vector<std::int32_t> ids;
  for (const GeneratedToken& token : Chat(generator()).ask("w4 w5", options).tokens) ids.push_back(token.id);
  std::size_t close = 1;
  while (close < ids.size() && ids[close] == ids[0]) ++close;
  ASSERT_LT(close + 1, ids.size());
  std::string text = base::read_text_file(folder_.path() / "model/tokenizer.json");
  const auto rename = [&](std::int32_t id, std::string_view tag) {
    const std::string word = "\"w" + std::to_string(id) + "\"";
    text.replace(text.find(word), word.size(), "\"" + std::string(tag) + "\"");
  };
  rename(ids[0], "[THINK]");
  rename(ids[close], "[/THINK]");
  folder_.write("model/tokenizer.json", text);
  add_special_tokens({"[THINK]", "[/THINK]"});
  std::string shown;
  const ChatAnswer made = Chat(generator()).ask("w4 w5", options, [&](std::string_view piece) { shown += piece; });
  EXPECT_EQ(made.tokens.size(), ids.size());
  EXPECT_EQ(made.text, shown);
  EXPECT_FALSE(made.text.empty());
  EXPECT_EQ(made.text.find("THINK]"), std::string::npos) << made.text;
}

}  // namespace
}  // namespace alate::pipelines
