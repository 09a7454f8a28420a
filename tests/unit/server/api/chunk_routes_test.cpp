// POST /api/chunk: Termite's body and answer, models, late chunks, refusals.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "alate/chunk.h"
#include "formats/json.h"
#include "tests/golden/golden_folder.h"
#include "tests/golden/tiny_weights.h"
#include "tests/source_folder.h"
#include "tests/unit/server/route_testing.h"

namespace alate::server {
namespace {

using formats::Json;

class ChunkRoutes : public RouteTest {
 protected:
  ChunkRoutes() {
    for (const char* name : {"st_mean", "st_cls"})
      tests::write_tiny_model(source_folder() / "tests/golden/models" / name, settings.models_dir / "tiny" / name);
  }

  Response post(const std::string& members) {
    return call(native_routes(), Method::post, "/api/chunk", "{" + members + "}");
  }
  Json answer_to(const std::string& members) {
    const Response response = post(members);
    EXPECT_EQ(response.status, 200) << response.body;
    const Json body = formats::parse_json(response.body, "answer");
    const std::vector<Route> routes = native_routes();
    const auto route = std::ranges::find(routes, std::string_view("/api/chunk"), &Route::path);
    const auto violation = Schema::parse(route->answers.front().schema).check(body);
    EXPECT_FALSE(violation) << violation->message;
    return body;
  }
  static std::vector<std::string> texts_of(const Json& body) {
    std::vector<std::string> texts;
    for (const Json& chunk : body.find("chunks")->as_array("chunks")) texts.push_back(chunk.get_string("text", ""));
    return texts;
  }
};

using Texts = std::vector<std::string>;

TEST_F(ChunkRoutes, AnswersLikeTermite) {
  const Json body = answer_to(
      R"("text": "é one two\n\nthree four", "config": {"model": "fixed", "target_tokens": 3, "overlap_tokens": 0})");
  EXPECT_EQ(
      formats::to_json_text(body),
      R"({"chunks":[{"id":0,"text":"é one two","start_char":0,"end_char":9,"byte_start":0,"byte_end":10,"tokens":3},)"
      R"({"id":1,"text":"three four","start_char":11,"end_char":21,"byte_start":12,"byte_end":22,"tokens":2}],)"
      R"("model":"fixed","cache_hit":false,"tokens":5,"truncated":false})");
  EXPECT_EQ(texts_of(answer_to(R"("input": "a b")")), Texts{"a b"});
}

// A chunk takes more than its text.
TEST_F(ChunkRoutes, CountsChunksBeforeTheyAreMade) {
  std::string text;
  for (int i = 0; i < (1 << 19) + 1; ++i) text += "a ";
  const Response many = post(R"("text": ")" + text + R"(", "config": {"target_tokens": 1, "max_chunks": 2147483647})");
  EXPECT_EQ(many.status, 413);
  EXPECT_NE(many.body.find("more than 524288 chunks"), std::string::npos) << many.body;
  const Response whole =
      post(R"("text": ")" + text + R"(", "config": {"target_tokens": 100, "max_chunks": 2147483647})");
  EXPECT_EQ(whole.status, 200);
}

TEST_F(ChunkRoutes, ZeroIsTheDefaultAsInTermite) {
  std::string text;
  for (int i = 0; i < 30000; ++i) text += "w ";
  const Json body = answer_to(R"("text": ")" + text + R"(", "config": {"target_tokens": 0, "max_chunks": 0})");
  const Json::Array& chunks = body.find("chunks")->as_array("chunks");
  ASSERT_EQ(chunks.size(), 50U);
  EXPECT_EQ(chunks[0].get_int("tokens", 0), 500);
  EXPECT_EQ(chunks[1].get_int("start_char", 0), 900);
  EXPECT_TRUE(body.get_bool("truncated", false));
}

TEST_F(ChunkRoutes, ModelIsAMethodOrWhatCounts) {
  const std::string text = R"("text": "One two. Three four.", "config": {"target_tokens": 4, "overlap_tokens": 0, )";
  EXPECT_EQ(answer_to(text + R"("model": "sentence"})").get_string("model", ""), "sentence");
  EXPECT_EQ(answer_to(text + R"("method": "sentence"})").get_string("model", ""), "sentence");
  EXPECT_EQ(answer_to(text + R"("method": "recursive", "model": "fixed"})").get_string("model", ""), "recursive");
  EXPECT_EQ(texts_of(answer_to(text + R"("model": "sentence"})")), (Texts{"One two.", "Three four."}));
  EXPECT_EQ(texts_of(answer_to(text + R"("method": "sentence"})")), (Texts{"One two.", "Three four."}));
  // jumping is jump ##ing in the model's vocabulary.
  const std::string jumps = R"("text": "jumping jumping", "config": {"target_tokens": 2, "model": )";
  const Json counted = answer_to(jumps + R"("tiny/st_mean"})");
  EXPECT_EQ(texts_of(counted), (Texts{"jumping", "jumping"}));
  EXPECT_EQ(counted.get_string("model", ""), "tiny/st_mean");
  EXPECT_EQ(texts_of(answer_to(jumps + R"("fixed"})")), (Texts{"jumping jumping"}));
}

TEST_F(ChunkRoutes, LateChunksHaveTheLibrarysEmbeddings) {
  const std::string text = "The cat sat on the mat. The quick brown fox jumped. A fox, a cat: the mat!";
  const Json body = answer_to(R"("model": "tiny/st_mean", "late": true, "normalize": true, "text": ")" + text +
                              R"(", "config": {"method": "sentence", "target_tokens": 8})");
  const LateChunks wanted =
      Chunker(EmbeddingPipeline::load(settings.models_dir / "tiny/st_mean"))
          .chunk_late(text, {.method = ChunkMethod::sentence, .target_tokens = 8}, {.normalize = true});
  const Json::Array& chunks = body.find("chunks")->as_array("chunks");
  ASSERT_EQ(chunks.size(), wanted.chunks.chunks.size());
  ASSERT_GT(chunks.size(), 2U);
  std::vector<float> found;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    EXPECT_EQ(chunks[i].get_string("text", ""), wanted.chunks.chunks[i].text);
    for (const Json& number : chunks[i].find("embedding")->as_array("embedding"))
      found.push_back(static_cast<float>(number.as_double("number")));
  }
  EXPECT_TRUE(std::ranges::equal(found, wanted.vectors.values<float>()));
}

TEST_F(ChunkRoutes, SemanticChunksAreTheLibrarys) {
  const std::string text = "The cat sat. A cat sat. Fox 1 2 3! The quick brown fox. On the mat the cat sat.";
  for (const bool late : {false, true}) {
    const Json body = answer_to(R"("model": "tiny/st_mean", "text": ")" + text + R"(", "late": )" +
                                (late ? "true" : "false") + R"(, "config": {"method": "semantic", "percentile": 40})");
    const Chunker chunker(EmbeddingPipeline::load(settings.models_dir / "tiny/st_mean"));
    const ChunkOptions options{.method = ChunkMethod::semantic, .max_chunks = 50, .percentile = 40};
    const Chunks wanted = late ? chunker.chunk_late(text, options).chunks : chunker.chunk(text, options);
    Texts texts;
    for (const Chunk& chunk : wanted.chunks) texts.push_back(chunk.text);
    EXPECT_EQ(texts_of(body), texts);
    EXPECT_GT(texts.size(), 1U);
  }
}

TEST_F(ChunkRoutes, WhereTextsNeedATaskChunksAreDocuments) {
  for (const std::string name : {"router_without_default", "router_of_transformers"})
    tests::write_tiny_model(tests::golden_folder("modules/" + name), settings.models_dir / "tiny" / name);
  const std::string config = R"(, "config": {"method": "semantic", "percentile": 40})";
  for (const std::string name : {"router_without_default", "router_of_transformers"}) {
    const std::string text = "The cat sat. A cat sat. Fox 1 2 3! The quick brown fox. On the mat the cat sat.";
    const Chunker chunker(EmbeddingPipeline::load(settings.models_dir / "tiny" / name));
    const Chunks wanted = chunker.chunk(text, {.method = ChunkMethod::semantic, .max_chunks = 50, .percentile = 40});
    Texts texts;
    for (const Chunk& chunk : wanted.chunks) texts.push_back(chunk.text);
    EXPECT_EQ(texts_of(answer_to(R"("model": "tiny/)" + name + R"(", "text": ")" + text + '"' + config)), texts)
        << name;
    EXPECT_GT(texts.size(), 1U);
  }
  EXPECT_EQ(post(R"("model": "tiny/router_of_transformers", "text": "a", "late": true)").status, 422);
}

TEST_F(ChunkRoutes, RefusesWhatCannotBe) {
  const auto status = [&](const std::string& members) { return post(members).status; };
  EXPECT_EQ(status(R"("config": {})"), 400);
  EXPECT_EQ(status(R"("text": "a", "input": "b")"), 400);
  EXPECT_EQ(status(R"("text": "a", "config": {"target_tokens": 5, "overlap_tokens": 5})"), 400);
  EXPECT_EQ(status(R"("text": "a", "late": true)"), 400);
  EXPECT_EQ(status(R"("text": "a", "config": {"model": "semantic"})"), 400);
  EXPECT_EQ(status(R"("text": "a", "config": {"model": "tiny/other"})"), 404);
  EXPECT_EQ(status(R"("text": "a", "model": "tiny/st_mean", "config": {"model": "tiny/st_cls"})"), 400);
  EXPECT_EQ(status(R"("text": "a", "model": "tiny/st_cls", "late": true)"), 422);
}

TEST_F(ChunkRoutes, OverlapsDoNotMakeAnswersOfAnySize) {
  const std::string text(1 << 20, '.');
  const Response response =
      post(R"("text": ")" + text +
           R"(", "config": {"target_tokens": 500000, "overlap_tokens": 499999, "max_chunks": 1000})");
  EXPECT_EQ(response.status, 413) << response.body;
}

}  // namespace
}  // namespace alate::server
