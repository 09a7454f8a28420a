#include "server/api/tei.h"

#include <gtest/gtest.h>

#include "tests/golden/tiny_answerers.h"
#include "tests/golden/tiny_classifiers.h"
#include "tests/golden/tiny_kinds.h"
#include "tests/golden/tiny_recognizers.h"
#include "tests/golden/tiny_rerankers.h"
#include "tests/unit/server/route_testing.h"

namespace alate::server {
namespace {

using formats::Json;

const Route& route(std::string_view id) {
  static const std::vector<Route> routes = tei_routes();
  for (const Route& each : routes) {
    if (each.id == id) return each;
  }
  throw std::runtime_error("no such route");
}

bool takes(std::string_view id, std::string_view body) {
  return !Schema::parse(route(id).body).check(formats::parse_json(body, "body"));
}

void expect_documented(std::string_view id, const std::string& body) {
  const auto violation = Schema::parse(route(id).answers.front().schema).check(formats::parse_json(body, "answer"));
  EXPECT_FALSE(violation) << body << "\n" << violation->message;
}

EmbedAnswer answer_of(std::size_t rows, std::size_t dimensions, std::vector<float> vectors) {
  EmbedAnswer answer;
  answer.rows = rows;
  answer.dimensions = dimensions;
  answer.vectors = std::move(vectors);
  return answer;
}

TEST(TeiEmbed, AnswersWithTheVectorsAlone) {
  const std::string body = tei_vectors(answer_of(2, 2, {0.1F, -2, 3.5F, 0})).text();
  EXPECT_EQ(body, "[[0.1,-2],[3.5,0]]");
  expect_documented("teiEmbed", body);
  expect_documented("teiModel", body);
}

TEST(TeiSimilarity, IsTheCosineOfTheFirstVectorWithEachOther) {
  const std::string body = tei_similarities(answer_of(5, 2, {3, 4, 3, 4, -6, -8, 4, -3, 0, 0}));
  EXPECT_EQ(body, "[1,-1,0,0]");
  expect_documented("teiSimilarity", body);
  expect_documented("teiModel", body);
  EXPECT_EQ(tei_similarities(answer_of(2, 2, {1, 0, 3, 4})), "[0.6]");
}

TEST(TeiSimilarity, DoesNotOverflowNorLeaveItsRange) {
  EXPECT_EQ(tei_similarities(answer_of(2, 2, {3e38F, 3e38F, 3e38F, 3e38F})), "[1]");
  EXPECT_EQ(tei_similarities(answer_of(2, 3, {0.1F, 0.2F, 0.3F, 0.1F, 0.2F, 0.3F})), "[1]");
}

TEST(TeiTokenize, GivesTheBytesThatATokenCameFromAndNullForSpecialOnes) {
  Encoding encoding;
  encoding.ids = {101, 7, 8, 102};
  encoding.tokens = {"[CLS]", "gru", "##ße", "[SEP]"};
  encoding.special_mask = {1, 0, 0, 1};
  encoding.byte_offsets = {{0, 0}, {0, 4}, {4, 7}, {0, 0}};
  std::string out = "[";
  append_tei_tokens(out, encoding, "Grüße");  // ü and ß are two bytes each
  out += "]";
  EXPECT_EQ(out, R"([[{"id":101,"text":"[CLS]","special":true,"start":null,"stop":null},)"
                 R"({"id":7,"text":"Grü","special":false,"start":0,"stop":4},)"
                 R"({"id":8,"text":"ße","special":false,"start":4,"stop":7},)"
                 R"({"id":102,"text":"[SEP]","special":true,"start":null,"stop":null}]])");
  expect_documented("teiTokenize", out);
}

TEST(TeiTokenize, RepairsTextThatATokenCuts) {
  Encoding encoding;
  encoding.ids = {5};
  encoding.tokens = {"\xC3\x83"};
  encoding.special_mask = {0};
  encoding.byte_offsets = {{0, 1}};
  std::string out;
  append_tei_tokens(out, encoding, "ü");
  EXPECT_EQ(formats::parse_json(out, "tokens").as_array("tokens")[0].get_string("text", ""), "\xEF\xBF\xBD");
}

TEST(TeiEmbed, TakesEveryFormOfInputsAndBothSpellingsOfASide) {
  for (const char* inputs : {R"("a")", R"(["a"])", "[1,2]", "[[1],[2]]", "[]"}) {
    EXPECT_TRUE(takes("teiEmbed", R"({"inputs":)" + std::string(inputs) + "}")) << inputs;
    EXPECT_TRUE(takes("teiModel", R"({"inputs":)" + std::string(inputs) + R"(,"parameters":{}})")) << inputs;
  }
  for (const char* side : {"Left", "Right", "left", "right"})
    EXPECT_TRUE(takes("teiEmbed", R"({"inputs":"a","truncation_direction":")" + std::string(side) + "\"}"));
  EXPECT_TRUE(takes("teiEmbed", R"({"inputs":"a","truncate":null,"prompt_name":null,"dimensions":null})"));
}

TEST(TeiRoutes, RefuseHostileBodiesBySchema) {
  for (const char* inputs : {"7", "null", "{}", R"(["a",1])", "[1,\"a\"]", "[-1]", "[1e300]", "[2147483648]", "[[[1]]]",
                             R"({"source_sentence":"a"})"})
    EXPECT_FALSE(takes("teiEmbed", R"({"inputs":)" + std::string(inputs) + "}")) << inputs;
  EXPECT_FALSE(takes("teiEmbed", R"({"inputs":"a","truncation_direction":"up"})"));
  EXPECT_FALSE(takes("teiEmbed", R"({"inputs":"a","dimensions":0})"));
  EXPECT_FALSE(takes("teiEmbed", R"({"inputs":"a","normalize":"yes"})"));
  EXPECT_FALSE(takes("teiEmbed", R"({"input":"a"})"));
  EXPECT_FALSE(takes("teiModel", R"({"inputs":{"source_sentence":"a"}})"));
  EXPECT_FALSE(takes("teiSimilarity", R"({"inputs":{"source_sentence":"a","sentences":[1]}})"));
  EXPECT_TRUE(takes("teiSimilarity", R"({"inputs":{"source_sentence":"a","sentences":["b"]},"parameters":{}})"));
  EXPECT_FALSE(takes("teiTokenize", R"({"inputs":[1]})"));
  EXPECT_TRUE(takes("teiTokenize", R"({"inputs":"a","add_special_tokens":false})"));
  EXPECT_FALSE(takes("teiDecode", R"({"ids":[-1]})"));
  EXPECT_FALSE(takes("teiDecode", R"({"ids":"a"})"));
  EXPECT_TRUE(takes("teiDecode", R"({"ids":[[1],[]]})"));
}

class TeiModels : public RouteTest {
 protected:
  TeiModels() {
    add("tiny/prompts", "st_prompts");
    settings.max_inputs = 3;
  }
  Response post(std::string_view path, std::string body) {
    return call(tei_routes(), Method::post, path, std::move(body));
  }
};

TEST_F(TeiModels, AnswerForWhatTheyAreFor) {
  const Response vectors = post("/", R"({"inputs":["the cat","the"]})");
  ASSERT_EQ(vectors.status, 200) << vectors.body;
  EXPECT_EQ(json(vectors).as_array("vectors").size(), 2U);
  EXPECT_EQ(post("/models/tiny/prompts", R"({"inputs":["the cat","the"]})").body, vectors.body);
  EXPECT_EQ(post("/models/tiny/prompts/embed", R"({"inputs":["the cat","the"]})").body, vectors.body);
  EXPECT_EQ(post("/embed", R"({"inputs":["the cat","the"],"model":"prompts"})").body, vectors.body);
  const std::string comparison = R"({"inputs":{"source_sentence":"the cat","sentences":["the cat","the"]}})";
  const Response scores = post("/", comparison);
  ASSERT_EQ(scores.status, 200) << scores.body;
  EXPECT_EQ(json(scores).as_array("scores").at(0).as_double("score"), 1);
  EXPECT_LT(json(scores).as_array("scores").at(1).as_double("score"), 1);
  EXPECT_EQ(post("/similarity", comparison).body, scores.body);
  EXPECT_EQ(post("/models/nothing", R"({"inputs":"a"})").status, 404);
}

TEST_F(TeiModels, TokenizeWithThePromptBeforeTheText) {
  const auto texts = [&](const std::string& members) {
    const Response response = post("/tokenize", R"({"inputs":"the cats",)" + members + "}");
    EXPECT_EQ(response.status, 200) << response.body;
    std::string joined;
    const Json answer = json(response);
    for (const Json& token : answer.as_array("texts").at(0).as_array("tokens"))
      joined += token.get_string("text", "") + "|";
    return joined;
  };
  EXPECT_EQ(texts(R"("prompt_name":"empty")"), "[CLS]|the|cat|s|[SEP]|");
  EXPECT_EQ(texts(R"("prompt_name":"empty","add_special_tokens":false)"), "the|cat|s|");
  EXPECT_EQ(texts(R"("prompt_name":"query")"), "[CLS]|query|:|the|cat|s|[SEP]|");
  EXPECT_EQ(texts(R"("prompt_name":null)"), "[CLS]|the|passage|-|the|cat|s|[SEP]|");  // the default one
  EXPECT_EQ(post("/tokenize", R"({"inputs":"a","prompt_name":"other"})").status, 422);
}

TEST_F(TeiModels, DecodeListsOfIds) {
  EXPECT_EQ(post("/decode", R"({"ids":[[2,78,79,3],[78]]})").body.front(), '[');
  const Response tokens = post("/tokenize", R"({"inputs":"the cat","prompt_name":"empty"})");
  std::string ids;
  const Json answer = json(tokens);
  for (const Json& token : answer.as_array("texts").at(0).as_array("tokens"))
    ids += (ids.empty() ? "" : ",") + text(token, "id");
  EXPECT_EQ(post("/decode", R"({"ids":[)" + ids + "]}").body, R"(["the cat"])");
  EXPECT_EQ(post("/decode", R"({"ids":[[)" + ids + R"(],[2147483647]]})").body, R"(["the cat",""])");
  EXPECT_EQ(post("/decode", R"({"ids":[)" + ids + R"(],"skip_special_tokens":false})").body,
            R"(["[CLS] the cat [SEP]"])");
  EXPECT_EQ(post("/decode", R"({"ids":[]})").body, R"([""])");
}

TEST_F(TeiModels, EmbedEachTokenAsTheEncoderDoes) {
  settings.batch_max_tokens = 8;  // so that the texts are computed in several parts
  const Response answer = post("/embed_all", R"({"inputs":["the cat","","the"],"prompt_name":"empty"})");
  ASSERT_EQ(answer.status, 200) << answer.body;
  expect_documented("teiEmbedAll", answer.body);
  EXPECT_FALSE(header(answer, "X-Model-Fingerprint").empty());
  const EmbeddingPipeline pipeline = EmbeddingPipeline::load(settings.models_dir / "tiny/prompts");
  const Json parsed = json(answer);
  const auto& rows = parsed.as_array("rows");
  ASSERT_EQ(rows.size(), 3U);
  const char* texts[] = {"the cat", "", "the"};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::vector<std::int32_t> ids = pipeline.tokenizer().encode(texts[i]).ids;
    const auto length = static_cast<std::int64_t>(ids.size());
    const NamedTensors outputs =
        pipeline.model().forward({{"input_ids", Tensor::from<std::int32_t>({1, length}, std::span(ids))}});
    const std::span<const float> wanted = outputs.find("last_hidden_state")->second.values<float>();
    const auto& tokens = rows[i].as_array("tokens");
    ASSERT_EQ(tokens.size(), ids.size()) << texts[i];  // special ones included
    std::size_t number = 0;
    for (const Json& token : tokens) {
      ASSERT_EQ(token.as_array("vector").size(), wanted.size() / ids.size());
      for (const Json& value : token.as_array("vector"))
        ASSERT_EQ(static_cast<float>(value.as_double("value")), wanted[number++]);
    }
  }
}

TEST_F(TeiModels, EmbedTheTokensOfOneTextOrOfIdsAlike) {
  const std::string vectors = post("/embed_all", R"({"inputs":"the cat","prompt_name":"empty"})").body;
  const Json listed = json(post("/tokenize", R"({"inputs":"the cat","prompt_name":"empty"})"));
  std::string ids;
  for (const Json& token : listed.as_array("texts").at(0).as_array("tokens"))
    ids += (ids.empty() ? "" : ",") + text(token, "id");
  EXPECT_EQ(post("/embed_all", R"({"inputs":[)" + ids + "]}").body, vectors);
  EXPECT_EQ(post("/models/tiny/prompts/embed_all", R"({"inputs":"the cat","prompt_name":"empty"})").body, vectors);
  EXPECT_NE(post("/embed_all", R"({"inputs":"the cat","prompt_name":"query"})").body, vectors);
}

TEST_F(TeiModels, RefuseTokensThatMustNotBeCutOrAreTooMany) {
  std::string words = "the";
  for (int i = 0; i < 60; ++i) words += " cat";
  EXPECT_EQ(post("/embed_all", R"({"truncate":false,"inputs":")" + words + R"("})").status, 413);
  EXPECT_EQ(post("/embed_all", R"({"inputs":")" + words + R"("})").status, 200);
  EXPECT_EQ(post("/embed_all", R"({"inputs":[88]})").status, 422);
  EXPECT_EQ(post("/embed_all", R"({"inputs":[]})").status, 400);
  settings.max_inputs = 1;
  EXPECT_EQ(post("/embed_all", R"({"inputs":["a","b"]})").status, 413);
}

TEST_F(TeiModels, RefuseEmptyAndLongLists) {
  for (const char* path : {"/embed", "/", "/tokenize"}) {
    const Response empty = post(path, R"({"inputs":[]})");
    EXPECT_EQ(empty.status, 400) << path << empty.body;
    EXPECT_EQ(json(empty).get_string("error_type", ""), "Empty");
    EXPECT_EQ(post(path, R"({"inputs":["a","b","c","d"]})").status, 413) << path;
  }
  EXPECT_EQ(post("/similarity", R"({"inputs":{"source_sentence":"a","sentences":[]}})").status, 400);
  EXPECT_EQ(post("/similarity", R"({"inputs":{"source_sentence":"a","sentences":["b","c","d"]}})").status, 413);
  EXPECT_EQ(post("/decode", R"({"ids":[[1],[1],[1],[1]]})").status, 413);
  EXPECT_EQ(post("/tokenize", R"({"inputs":")" + std::string((1 << 20) + 1, 'a') + R"("})").status, 413);
}

TEST_F(TeiModels, RefuseTextsThatMustNotBeCut) {
  std::string words = "the";
  for (int i = 0; i < 60; ++i) words += " cat";
  const Response refused = post("/embed", R"({"truncate":false,"inputs":")" + words + R"("})");
  EXPECT_EQ(refused.status, 413) << refused.body;
  EXPECT_EQ(json(refused).get_string("error_type", ""), "Validation");
  const std::string left = post("/embed", R"({"truncation_direction":"Left","inputs":")" + words + R"("})").body;
  EXPECT_EQ(left, post("/embed", R"({"truncation_direction":"left","inputs":")" + words + R"("})").body);
  EXPECT_NE(left, post("/embed", R"({"truncation_direction":"Right","inputs":")" + words + R"("})").body);
}

TEST_F(TeiModels, TellFactsAboutThemselves) {
  const Response response = call(tei_routes(), Method::get, "/info");
  ASSERT_EQ(response.status, 200) << response.body;
  expect_documented("teiInfo", response.body);
  EXPECT_EQ(json(response).get_string("model_id", ""), "tiny/prompts");
  EXPECT_EQ(json(response).get_string("model_dtype", ""), "float32");
  EXPECT_EQ(text(json(response), "model_type"), R"({"embedding":{"pooling":"mean"}})");
  EXPECT_EQ(json(response).get_int("max_client_batch_size", 0), 3);
  EXPECT_EQ(call(tei_routes(), Method::get, "/models/tiny/prompts/info").body, response.body);
}

// As clients of text-embeddings-inference ask: its servers have one model each.
class TeiWithoutNames : public RouteTest {
 protected:
  TeiWithoutNames() {
    add("tiny/embedder");
    add("tiny/other", "st_max");
    settings.default_model = "tiny/embedder";
    tests::write_tiny_reranker(settings.models_dir / "tiny/reranker");
    tests::write_tiny_classifier(settings.models_dir / "tiny/nli");
    tests::write_tiny_recognizer(settings.models_dir / "tiny/recognizer");
    tests::write_tiny_answerer(settings.models_dir / "tiny/answerer");
    tests::write_tiny_kinds(settings.models_dir / "tiny/splade", "splade_max");
  }
  // The answer is that of the model which the path names.
  void expect_model(const std::string& path, const std::string& body, const std::string& model) {
    const Response unnamed = call(tei_routes(), Method::post, path, body);
    ASSERT_EQ(unnamed.status, 200) << path << body << unnamed.body;
    const Response named = call(tei_routes(), Method::post, "/models/" + model + (path == "/" ? "" : path), body);
    EXPECT_EQ(unnamed.body, named.body) << path << body;
    EXPECT_EQ(header(unnamed, "X-Model-Fingerprint"), header(named, "X-Model-Fingerprint")) << path << body;
  }
};

TEST_F(TeiWithoutNames, EachTaskHasTheOnlyModelThatIsForIt) {
  const std::string query = R"({"query":"the cat","texts":["the cat sat","fox"]})";
  expect_model("/rerank", query, "tiny/reranker");
  expect_model("/", query, "tiny/reranker");
  expect_model("/predict", R"({"inputs":"the cat"})", "tiny/nli");
  expect_model("/", R"({"inputs":"the cat","parameters":{"candidate_labels":["a","b"]}})", "tiny/nli");
  expect_model("/", R"({"inputs":"the cat","parameters":{"aggregation_strategy":"first"}})", "tiny/recognizer");
  expect_model("/predict", R"({"inputs":"the cat","parameters":{"ignore_labels":["x"]}})", "tiny/recognizer");
  expect_model("/", R"({"inputs":{"question":"where?","context":"the cat sat."}})", "tiny/answerer");
  expect_model("/embed_sparse", R"({"inputs":"the cat"})", "tiny/splade");
  // Of those that several are for, the default one.
  expect_model("/embed", R"({"inputs":"the cat"})", "tiny/embedder");
  expect_model("/embed_all", R"({"inputs":"the cat"})", "tiny/embedder");
  expect_model("/similarity", R"({"inputs":{"source_sentence":"the cat","sentences":["fox"]}})", "tiny/embedder");
  expect_model("/", R"({"inputs":"the cat"})", "tiny/embedder");
  expect_model("/tokenize", R"({"inputs":"the cat"})", "tiny/embedder");
}

TEST_F(TeiWithoutNames, SeveralThatWouldDoAreNamed) {
  tests::write_tiny_reranker(settings.models_dir / "tiny/second");
  const Response response = call(tei_routes(), Method::post, "/rerank", R"({"query":"the cat","texts":["fox"]})");
  EXPECT_EQ(response.status, 422);
  EXPECT_NE(response.body.find("tiny/reranker, tiny/second"), std::string::npos) << response.body;
}

TEST_F(TeiWithoutNames, WhereNoneWouldDoTheDefaultModelSaysWhatItIsFor) {
  std::filesystem::remove_all(settings.models_dir / "tiny/reranker");
  const Response response = call(tei_routes(), Method::post, "/rerank", R"({"query":"the cat","texts":["fox"]})");
  EXPECT_EQ(response.status, 422);
  EXPECT_NE(response.body.find("embedder"), std::string::npos) << response.body;
}

}  // namespace
}  // namespace alate::server
