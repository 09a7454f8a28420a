// Chat templates of models that come without one: which families are recognized, and what their templates write.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "alate/chat_template.h"
#include "alate/error.h"
#include "base/files/mapped_file.h"
#include "formats/gguf/gguf_value.h"
#include "formats/json.h"
#include "tests/source_folder.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"
#include "tests/unit/formats/gguf_bytes.h"
#include "tests/unit/tokenizers/small_tokenizer.h"

namespace alate::tests {
namespace {

using base::error_of;
using formats::GgufBytes;
using formats::GgufType;
using formats::Json;

// What a published chat model of a family has in its files.
struct Published {
  std::string family, model_type;
  std::vector<std::string> tokens;
  std::string end_token;         // in generation_config.json; empty: a base model would have the same
  std::string name;              // in config.json
  std::size_t vocabulary = 100;  // with the tokens
};

const std::vector<std::string> kTurns = {"<start_of_turn>", "<end_of_turn>"};
const std::vector<std::string> kHeaders = {"<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"};
const std::vector<std::string> kInstructions = {"[INST]", "[/INST]", "[AVAILABLE_TOOLS]"};

const std::vector<Published> kPublished = {
    {"ChatML", "qwen2", {"<|im_start|>", "<|im_end|>"}, "<|im_end|>", ""},
    {"Command R",
     "cohere",
     {"<|START_OF_TURN_TOKEN|>", "<|SYSTEM_TOKEN|>", "<|USER_TOKEN|>", "<|CHATBOT_TOKEN|>", "<|END_OF_TURN_TOKEN|>"},
     "<|END_OF_TURN_TOKEN|>",
     ""},
    {"Gemma", "gemma2", kTurns, "<end_of_turn>", ""},
    {"Gemma", "gemma", kTurns, "", "google/gemma-2b-it"},
    {"Gemma 3", "gemma3_text", kTurns, "<end_of_turn>", ""},
    {"Llama 2", "llama", {}, "", "meta-llama/Llama-2-7b-chat-hf", 32000},
    {"Llama 3", "llama", kHeaders, "<|eot_id|>", ""},
    {"Llama 3.1", "llama", {"<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "<|eom_id|>"}, "<|eot_id|>", ""},
    {"Mistral, version 1", "mistral", {}, "", "mistralai/Mistral-7B-Instruct-v0.2", 32000},
    {"Mistral, version 1", "mixtral", {}, "", "mistralai/Mixtral-8x7B-Instruct-v0.1", 32000},
    {"Mistral, version 3", "mistral", kInstructions, "", "Mistral-7B-Instruct-v0.3", 32768},
    {"Mistral, version 3, Tekken", "mistral", kInstructions, "", "Mistral-Nemo-Instruct-2407", 131072},
    {"Phi-3", "phi3", {"<|system|>", "<|user|>", "<|assistant|>", "<|end|>", "<|placeholder1|>"}, "", ""},
    {"Phi-4", "phi3", {"<|im_start|>", "<|im_sep|>", "<|im_end|>"}, "", ""},
    {"Zephyr", "mistral", {}, "", "HuggingFaceH4/zephyr-7b-beta"},
};

std::string quoted(const std::string& text) { return formats::to_json_text(Json(text)); }

// The ids of the tokens are 0, 1, …; words fill the vocabulary, which has the marks that tokenizer_config.json names.
std::string tokenizer_of(const Published& model) {
  std::string words, added;
  for (std::size_t id = 0; id < model.vocabulary; ++id) {
    const std::string number = std::to_string(id);
    const std::string word = id + 10 == model.vocabulary ? "<s>" : id + 9 == model.vocabulary ? "</s>" : "w" + number;
    const std::string token = id < model.tokens.size() ? model.tokens[id] : word;
    words += (id == 0 ? "" : ",") + quoted(token) + ":" + number;
    if (id >= model.tokens.size()) continue;
    added += (id == 0 ? "" : ",") + (R"({"id":)" + number) + R"(,"content":)" + quoted(token) +
             R"(,"single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true})";
  }
  return SmallTokenizer{.normalizer = "null",
                        .pre_tokenizer = R"({"type":"WhitespaceSplit"})",
                        .model = R"({"type":"WordLevel","unk_token":"w99","vocab":{)" + words + "}}",
                        .added_tokens = "[" + added + "]",
                        .post_processor = "null",
                        .decoder = "null"}
      .json();
}

class KnownFamilies : public ::testing::Test {
 protected:
  void write(const Published& model, std::string_view model_class = "XForCausalLM") {
    folder_.write("tokenizer.json", tokenizer_of(model));
    folder_.write("tokenizer_config.json", R"({"bos_token": "<s>", "eos_token": "</s>"})");
    folder_.write("config.json", R"({"model_type": ")" + model.model_type + R"(", "architectures": [")" +
                                     std::string(model_class) + R"("], "_name_or_path": )" + quoted(model.name) +
                                     R"(, "eos_token_id": 98})");
    std::string ends = "[97";
    for (std::size_t id = 0; id < model.tokens.size(); ++id)
      if (model.tokens[id] == model.end_token) ends += ", " + std::to_string(id);
    folder_.write("generation_config.json", R"({"eos_token_id": )" + ends + "]}");
  }
  ChatTemplate load() const { return ChatTemplate::load(folder_.path()); }
  void expect_none() const {
    EXPECT_EQ(error_of([&] { load(); }).code(), ErrorCode::not_found);
  }

  base::TemporaryFolder folder_;
};

const Json& golden() {
  static const Json json = formats::parse_json(
      base::read_text_file(source_folder() / "tests/golden/chat_templates/known_families.json"), "golden");
  return json;
}

void expect_recorded(const ChatTemplate& chat, const std::string& family) {
  const Json::Array& requests = golden().find("requests")->as_array("requests");
  const Json* texts = golden().find("families")->find(family);
  ASSERT_NE(texts, nullptr);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const std::string request = formats::to_json_text(requests[i]);
    SCOPED_TRACE(request);
    const Json& text = texts->as_array(family).at(i);
    if (text.is_null())
      EXPECT_EQ(error_of([&] { chat.render_request(request); }).code(), ErrorCode::invalid_argument);
    else
      EXPECT_EQ(chat.render_request(request).text, text.as_string("text"));
  }
}

// Recorded by tests/golden/chat_templates/record_known_families.py.
TEST_F(KnownFamilies, WriteWhatTheirPublishedTemplatesWrite) {
  for (const auto& [family, texts] : golden().find("families")->as_object("families")) {
    const bool is_tested =
        std::ranges::any_of(kPublished, [&](const Published& each) { return each.family == family; });
    EXPECT_TRUE(is_tested) << family;
  }
  for (const Published& model : kPublished) {
    SCOPED_TRACE(model.family);
    write(model);
    expect_recorded(load(), model.family);
  }
}

TEST_F(KnownFamilies, AreNotSeenInBaseModels) {
  for (Published model : kPublished) {
    SCOPED_TRACE(model.family);
    if (model.end_token.empty() && model.name.empty()) continue;  // no base model was published
    model.end_token.clear();
    model.name = "meta/Llama-2 google/gemma-2b mistralai/Mistral-7B-v0.3";
    write(model);
    expect_none();
  }
}

TEST_F(KnownFamilies, AreNotGuessed) {
  for (Published model : kPublished) {
    SCOPED_TRACE(model.family);
    write(model, "XForSequenceClassification");
    expect_none();
    Published other = model;
    other.model_type = "other";
    write(other);
    if (model.family != "ChatML") expect_none();
    if (model.vocabulary > 100) {
      model.vocabulary += 1;
      write(model);
      expect_none();
    }
    if (model.tokens.empty()) continue;
    other = model;
    other.tokens[0] += "x";
    write(other);
    expect_none();
  }
  write({"ChatML", "qwen2", {"<|im_start|>", "<|im_end|>", "<end_of_utterance>"}, "<|im_end|>", ""});
  expect_none();
}

TEST_F(KnownFamilies, NeedTheSpecialTokensThatTheyWrite) {
  write(kPublished[5]);
  ASSERT_EQ(kPublished[5].family, "Llama 2");
  folder_.write("tokenizer_config.json", R"({"bos_token": "<s>"})");
  expect_none();
}

TEST_F(KnownFamilies, RefuseWhatTheyDoNotWrite) {
  write(kPublished.front());
  for (const std::string_view request :
       {R"({"messages": [{"role": "user", "content": "a"}], "tools": [{"type": "function"}]})",
        R"({"messages": [{"role": "user", "content": "a"}], "documents": [{"text": "b"}]})",
        R"({"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}]}]})",
        R"({"messages": [{"role": "assistant", "tool_calls": []}]})",
        R"({"messages": [{"role": "tool", "content": "a"}]})"})
    EXPECT_EQ(error_of([&] { load().render_request(request); }).code(), ErrorCode::invalid_argument) << request;
  EXPECT_EQ(load().render_request(R"({"messages": [{"role": "user", "content": "a"}], "tools": null})").text,
            "<|im_start|>user\na<|im_end|>\n");
  write(kPublished[5]);  // its published template leaves out a system message that is not the first
  EXPECT_EQ(error_of([&] {
              load().render_request(
                  R"({"messages": [{"role": "user", "content": "a"}, {"role": "system", "content": "b"}]})");
            }).code(),
            ErrorCode::invalid_argument);
}

TEST_F(KnownFamilies, GiveWayToATemplateOfTheModel) {
  write(kPublished.front());
  folder_.write("chat_template.jinja", "own");
  EXPECT_EQ(load().render_request(R"({"messages": [{"role": "user", "content": "a"}]})").text, "own");
}

// A file whose vocabulary is <unk>, <s>, </s> and the tokens.
GgufBytes gguf_of(std::string_view architecture, const std::vector<std::string>& tokens, std::uint32_t end) {
  std::vector<std::string> all = {"<unk>", "<s>", "</s>"};
  all.insert(all.end(), tokens.begin(), tokens.end());
  std::string scores, types;
  for (std::size_t id = 0; id < all.size(); ++id) {
    scores += std::string(4, '\0');
    types += GgufBytes::number(std::uint32_t{id == 0 ? 2U : 3U});
  }
  GgufBytes gguf;
  gguf.add_text("general.architecture", architecture)
      .add_text("tokenizer.ggml.model", "llama")
      .add("tokenizer.ggml.tokens", GgufType::array, GgufBytes::strings(all))
      .add("tokenizer.ggml.scores", GgufType::array, GgufBytes::array(GgufType::f32, all.size(), scores))
      .add("tokenizer.ggml.token_type", GgufType::array, GgufBytes::array(GgufType::i32, all.size(), types))
      .add_u32("tokenizer.ggml.bos_token_id", 1)
      .add_u32("tokenizer.ggml.eos_token_id", end);
  return gguf;
}

TEST_F(KnownFamilies, AreSeenInGgufFiles) {
  folder_.write("model.gguf", gguf_of("llama", kHeaders, 2).bytes());
  expect_none();
  folder_.write("model.gguf", gguf_of("llama", kHeaders, 5).bytes());
  expect_recorded(load(), "Llama 3");
  expect_recorded(ChatTemplate::load(folder_.path() / "model.gguf"), "Llama 3");
  folder_.write("model.gguf", gguf_of("gemma2", kTurns, 2).add_text("general.name", "Gemma 2 2b").bytes());
  expect_none();
  folder_.write("model.gguf", gguf_of("gemma2", kTurns, 2)
                                  .add_text("general.name", "Gemma 2 2b It")
                                  .add_text("general.finetune", "it")
                                  .bytes());
  expect_recorded(load(), "Gemma");
}

}  // namespace
}  // namespace alate::tests
