// Small models of every kind against recorded encodings of the reference.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "alate/tokenizer.h"
#include "tests/golden/tokenizers/golden_cases.h"
#include "tests/unit/tokenizers/small_tokenizer.h"

namespace alate::tests {
namespace {

void run_case(const Tokenizer& tokenizer, const Json& entry) {
  const std::string text = entry.get_string("text", "");
  SCOPED_TRACE("text: " + text);
  if (entry.get_bool("error", false)) {
    EXPECT_THROW(tokenizer.encode(text), Error);
    return;
  }
  const Encoding got = tokenizer.encode(text);
  if (entry.find("hash") != nullptr) {
    EXPECT_EQ(fnv1a(listed(got.ids) + listed(got.tokens) + listed(got.offsets)), entry.get_string("hash", ""));
  } else {
    EXPECT_EQ(listed(got.ids), listed(*entry.find("ids")));
    EXPECT_EQ(listed(got.tokens), listed(*entry.find("tokens")));
    EXPECT_EQ(listed(got.offsets), listed(*entry.find("offsets")));
  }
  EXPECT_EQ(listed(tokenizer.encode(text, {.with_offsets = false, .with_tokens = false}).ids), listed(got.ids));
}

TEST(Models, EncodeAsTheReference) {
  const std::vector<Json> lines = read_jsonl(golden_folder() / "models.jsonl");
  EXPECT_GE(lines.size(), 38u);
  for (const Json& line : lines) {
    SCOPED_TRACE(line.get_string("name", ""));
    const Tokenizer tokenizer = Tokenizer::from_json(formats::to_json_text(*line.find("tokenizer")), "golden");
    const Json::Array& cases = line.find("cases")->as_array("cases");
    for (const Json& entry : cases) run_case(tokenizer, entry);
    for (const Json& entry : cases) run_case(tokenizer, entry);  // now from the cache of words
  }
}

void expect_model_refused(const std::string& model, ErrorCode code, const std::string& part_of_message) {
  try {
    SmallTokenizer{.model = model}.load();
    FAIL() << model;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.message();
    EXPECT_NE(error.message().find(part_of_message), std::string::npos) << error.message();
  }
}

TEST(Models, RefuseFilesThatContradictThemselves) {
  const auto with = [](const std::string& members) {
    return R"({"type":"BPE","vocab":{"a":0,"b":1,"ab":2},)" + members + "}";
  };
  expect_model_refused(with(R"("merges":[["a","c"]])"), ErrorCode::corrupt, "needs the token \"c\"");
  expect_model_refused(with(R"("merges":[["b","a"]])"), ErrorCode::corrupt, "needs the token \"ba\"");
  expect_model_refused(with(R"("merges":["a b c"])"), ErrorCode::corrupt, "a merge is two tokens");
  expect_model_refused(with(R"("merges":["a b",["a","b"]])"), ErrorCode::corrupt, "a merge is two tokens");
  expect_model_refused(with(R"("merges":[["a"]])"), ErrorCode::corrupt, "a merge is two tokens");
  expect_model_refused(with(R"("merges":[["a","b","a"]])"), ErrorCode::corrupt, "a merge is two tokens");
  expect_model_refused(with(R"("merges":{})"), ErrorCode::corrupt, "model.merges");
  expect_model_refused(with(R"("merges":[],"dropout":0.1)"), ErrorCode::unsupported, "dropout");
  expect_model_refused(with(R"("merges":[["a","b"]],"continuing_subword_prefix":"##")"), ErrorCode::corrupt, "prefix");
  expect_model_refused(R"({"type":"BPE","vocab":{"a":0}})", ErrorCode::corrupt, "merges is absent");
  expect_model_refused(R"({"type":"Unigram","unk_id":1,"vocab":[["a",0]]})", ErrorCode::corrupt, "unk_id");
  expect_model_refused(R"({"type":"Unigram","unk_id":0,"vocab":[["a"]]})", ErrorCode::corrupt, "a piece is");
  expect_model_refused(R"({"type":"Unigram","unk_id":0,"vocab":[["a",1e400]]})", ErrorCode::corrupt, "too large");
  expect_model_refused(R"({"type":"Other","vocab":{}})", ErrorCode::unsupported, "Other");
}

TEST(Models, ThreadsShareATokenizer) {
  const std::vector<Json> lines = read_jsonl(golden_folder() / "models.jsonl");
  for (const std::size_t line : {std::size_t{3}, std::size_t{16}, std::size_t{21}}) {
    const Tokenizer tokenizer = Tokenizer::from_json(formats::to_json_text(*lines[line].find("tokenizer")), "golden");
    std::vector<std::string> texts;
    std::vector<std::vector<std::int32_t>> wanted;
    for (const Json& entry : lines[line].find("cases")->as_array("cases")) {
      texts.push_back(entry.get_string("text", ""));
      wanted.push_back(tokenizer.encode(texts.back()).ids);
    }
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int round = 0; round < 20; ++round) {
          for (std::size_t text = 0; text < texts.size(); ++text)
            if (tokenizer.encode(texts[text]).ids != wanted[text]) ++wrong;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
  }
}

TEST(Models, ALongWordTakesNoQuadraticTime) {
  const Tokenizer tokenizer =
      SmallTokenizer{
          .normalizer = "null",
          .pre_tokenizer = "null",
          .model = R"({"type":"BPE","vocab":{"a":0,"aa":1,"aaaa":2,"b":3},"merges":[["a","a"],["aa","aa"]]})",
          .post_processor = "null",
          .decoder = "null"}
          .load();
  EXPECT_EQ(tokenizer.encode(std::string(1'000'000, 'a')).ids.size(), 250'000u);
}

}  // namespace
}  // namespace alate::tests
