// The whole server, without mocks: the answers for clients of each API family.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstring>
#include <future>
#include <map>
#include <set>

#include "formats/little_endian.h"
#include "formats/utf8.h"
#include "running_application.h"
#include "server/clients/web_origins.h"
#include "tests/unit/server/http/transport_harness.h"

namespace alate::server {
namespace {

using formats::Json;
using load::Answer;
using load::Client;

const std::vector<std::string> kTexts = {"The cat sleeps on the sofa.", "Köln", "", "a b c d e f g"};

std::string json_list(const std::vector<std::string>& texts) {
  Json::Array list(texts.begin(), texts.end());
  return formats::to_json_text(list);
}

// Rows of JSON numbers equal the library's bit for bit.
void expect_rows(const Json& rows, const Tensor& expected) {
  const auto& list = rows.as_array("rows");
  const auto width = static_cast<std::size_t>(expected.extent(1));
  ASSERT_EQ(list.size(), static_cast<std::size_t>(expected.extent(0)));
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto& row = list[i].as_array("row");
    ASSERT_EQ(row.size(), width);
    for (std::size_t j = 0; j < width; ++j)
      ASSERT_EQ(static_cast<float>(row[j].as_double("number")), expected.values<float>()[i * width + j])
          << i << ' ' << j;
  }
}

TEST(Application, EmbedsLikeTheLibraryInEachFamily) {
  const RunningApplication server;
  const EmbeddingPipeline pipeline = EmbeddingPipeline::load(server.model());
  const Tensor expected = pipeline.embed(kTexts).vectors;
  const std::string list = json_list(kTexts);

  const Answer native = server.post("/api/embed", R"({"model":"tiny/embedder","input":)" + list + "}");
  ASSERT_EQ(native.status, 200) << native.body;
  expect_rows(*json_of(native).find("embeddings"), expected);

  const Answer openai = server.post("/v1/embeddings", R"({"model":"embedder","input":)" + list + "}");
  ASSERT_EQ(openai.status, 200) << openai.body;
  const Json listed = json_of(openai);
  Json::Array rows;
  for (const Json& entry : listed.find("data")->as_array("data")) rows.push_back(*entry.find("embedding"));
  expect_rows(rows, expected);

  const Answer tei = server.post("/models/tiny/embedder/embed", R"({"inputs":)" + list + "}");
  ASSERT_EQ(tei.status, 200) << tei.body;
  expect_rows(json_of(tei), expected);

  const Answer cohere = server.post("/v2/embed", R"({"model":"tiny/embedder","input_type":"classification","texts":)" +
                                                     list + R"(,"embedding_types":["float"]})");
  ASSERT_EQ(cohere.status, 200) << cohere.body;
  expect_rows(*json_of(cohere).find("embeddings")->find("float"), expected);

  const Answer kserve =
      server.post("/v2/models/tiny/embedder/infer",
                  R"({"inputs":[{"name":"text","shape":[4],"datatype":"BYTES","data":)" + list + "}]}");
  ASSERT_EQ(kserve.status, 200) << kserve.body;
  const Json output = json_of(kserve).find("outputs")->as_array("outputs").at(0);
  EXPECT_EQ(output.get_string("name", ""), "sentence_embedding");
  const auto& data = output.find("data")->as_array("data");
  ASSERT_EQ(data.size(), expected.values<float>().size());
  for (std::size_t i = 0; i < data.size(); ++i)
    ASSERT_EQ(static_cast<float>(data[i].as_double("number")), expected.values<float>()[i]);
}

TEST(Application, EmbedsTextsOfBinaryTensors) {
  const RunningApplication server;
  const std::vector<std::string> texts = {"The cat sleeps.", "not UTF-8: \xFF"};
  std::string octets;
  for (const std::string& text : texts) {
    formats::append_little_endian(octets, static_cast<std::uint32_t>(text.size()));
    octets += text;
  }
  for (const char* shape : {"[2]", "[2,1]"}) {
    const std::string json = R"({"parameters":{"binary_data_output":true},"inputs":[{"name":"text","datatype":"BYTES",)"
                             R"("parameters":{"binary_data_size":)" +
                             std::to_string(octets.size()) + R"(},"shape":)" + shape + "}]}";
    const Answer answer = server.post("/v2/models/tiny/embedder/infer", json + octets,
                                      "Inference-Header-Content-Length: " + std::to_string(json.size()) + "\r\n");
    ASSERT_EQ(answer.status, 200) << answer.body;
    const Tensor wanted =
        EmbeddingPipeline::load(server.model()).embed(std::vector<std::string>{texts[0], "not UTF-8: \uFFFD"}).vectors;
    const auto bytes = std::as_bytes(wanted.values<float>());
    ASSERT_GT(answer.body.size(), bytes.size());
    EXPECT_EQ(std::memcmp(answer.body.data() + (answer.body.size() - bytes.size()), bytes.data(), bytes.size()), 0);
  }
}

TEST(Application, ShortensVectorsLikeTheLibrary) {
  const RunningApplication server;
  const EmbeddingPipeline pipeline = EmbeddingPipeline::load(server.model());
  EmbedOptions options;
  options.dimensions = 5;
  const Answer answer = server.post("/api/embed", R"({"dimensions":5,"input":)" + json_list(kTexts) + "}");
  ASSERT_EQ(answer.status, 200) << answer.body;
  expect_rows(*json_of(answer).find("embeddings"), pipeline.embed(kTexts, options).vectors);
}

TEST(Application, NormalizesOnlyWhereAsked) {
  const RunningApplication server;
  const EmbeddingPipeline pipeline = EmbeddingPipeline::load(server.other_model());
  for (const bool normalize : {false, true}) {
    EmbedOptions options;
    options.normalize = normalize;
    const Answer answer =
        server.post("/api/embed", std::string(R"({"model":"tiny/other","normalize":)") +
                                      (normalize ? "true" : "false") + R"(,"input":)" + json_list(kTexts) + "}");
    ASSERT_EQ(answer.status, 200) << answer.body;
    expect_rows(*json_of(answer).find("embeddings"), pipeline.embed(kTexts, options).vectors);
  }
}

TEST(Application, AddsSpecialTokensToIdsOnlyWhereAbsent) {
  const RunningApplication server;
  const EmbeddingPipeline pipeline = EmbeddingPipeline::load(server.model());
  EncodeOptions bare;
  bare.add_special_tokens = false;
  const auto ids = pipeline.tokenizer().encode(kTexts[0], bare).ids,
             framed = pipeline.tokenizer().encode(kTexts[0]).ids;
  ASSERT_NE(ids, framed);
  Json::Array rows;
  for (const auto& each : {ids, framed}) rows.emplace_back(Json::Array(each.begin(), each.end()));
  const Answer answer =
      server.post("/v1/embeddings", R"({"model":"embedder","input":)" + formats::to_json_text(rows) + "}");
  ASSERT_EQ(answer.status, 200) << answer.body;
  const Json listed = json_of(answer);
  Json::Array vectors;
  for (const Json& entry : listed.find("data")->as_array("data")) vectors.push_back(*entry.find("embedding"));
  expect_rows(vectors, pipeline.embed(std::vector{kTexts[0], kTexts[0]}).vectors);
}

TEST(Application, SaysWhichTextsWereCut) {
  const RunningApplication server;
  std::string longer;
  for (int i = 0; i < 3000; ++i) longer += "cat ";
  const std::string list = json_list({"short", longer});
  const Json cut = json_of(server.post("/api/embed", R"({"input":)" + list + "}"));
  ASSERT_NE(cut.find("truncated"), nullptr);
  EXPECT_EQ(formats::to_json_text(*cut.find("truncated")), "[1]");
  EXPECT_EQ(server.post("/api/embed", R"({"truncate":false,"input":)" + list + "}").status, 422);
  EXPECT_EQ(server.post("/embed", R"({"truncate":false,"inputs":)" + list + "}").status, 413);
  EXPECT_EQ(server.post("/v1/embeddings", R"({"model":"embedder","truncate":false,"input":)" + list + "}").status, 400);
  EXPECT_EQ(json_of(server.post("/api/embed", R"({"input":"short"})")).find("truncated"), nullptr);
}

TEST(Application, NamesTheInputAsTheClientWroteIt) {
  const RunningApplication server;
  const auto message = [&](const std::string& input) {
    return server.post("/v1/embeddings", R"({"model":"embedder","truncate":false,"input":)" + input + "}").body;
  };
  EXPECT_NE(message("[1,99999999]").find("\"input[1] is 99999999"), std::string::npos) << message("[1,99999999]");
  EXPECT_NE(message("[[1],[1,99999999]]").find("\"input[1][1] is 99999999"), std::string::npos);
  std::string longer = "\"";
  for (int i = 0; i < 3000; ++i) longer += "cat ";
  longer += '"';
  EXPECT_NE(message(longer).find("\"input has more than"), std::string::npos) << message(longer);
  EXPECT_NE(message("[\"a\"," + longer + "]").find("\"input[1] has more than"), std::string::npos);
}

struct BadBody {
  const char* name;
  std::string path, body;
  int status;
  std::string headers = {};
};

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

class BadBodies : public testing::TestWithParam<BadBody> {};

// docs/security.md lists these.
TEST_P(BadBodies, GetsAClearError) {
  static const RunningApplication server([](Settings& settings) {
    settings.max_body_mb = 1;
    settings.max_inputs = 8;
  });
  const Answer answer = server.post(GetParam().path, GetParam().body, GetParam().headers);
  EXPECT_EQ(answer.status, GetParam().status) << answer.body;
  const Json json = json_of(answer);
  EXPECT_TRUE(json.find("error") != nullptr || json.find("message") != nullptr) << answer.body;
  EXPECT_EQ(answer.body.find(server.folder().string()), std::string::npos) << "tells a path: " << answer.body;
}

const BadBody kBadBodies[] = {
    {"Truncated", "/api/embed", R"({"input": "a)", 400},
    {"Empty", "/api/embed", " ", 400},
    {"TrailingGarbage", "/api/embed", R"({"input":"a"} x)", 400},
    {"TwoValues", "/api/embed", R"({"input":"a"}{"input":"b"})", 400},
    {"Nan", "/api/embed", R"({"input":"a","dimensions":NaN})", 400},
    {"Infinity", "/api/embed", R"({"input":"a","dimensions":Infinity})", 400},
    {"HugeNumber", "/api/embed", R"({"input":"a","dimensions":1e999})", 400},
    {"HugeInteger", "/api/embed", R"({"input":"a","dimensions":123456789012345678901234567890})", 400},
    {"FractionForInteger", "/api/embed", R"({"input":"a","dimensions":1.5})", 400},
    {"NegativeDimensions", "/api/embed", R"({"input":"a","dimensions":-1})", 400},
    {"TooManyDimensions", "/api/embed", R"({"input":"a","dimensions":100000})", 422},
    {"TooManyDimensionsOpenAi", "/v1/embeddings", R"({"model":"embedder","input":"a","dimensions":100000})", 400},
    {"BadUtf8", "/api/embed", "{\"input\":\"a\xFF\"}", 400},
    {"OverlongUtf8", "/api/embed", "{\"input\":\"a\xC0\xAF\"}", 400},
    {"ControlCharacter", "/api/embed", "{\"input\":\"a\nb\"}", 400},
    {"ByteOrderMarkAlone", "/api/embed", "\xEF\xBB\xBF", 400},
    {"DuplicateKeys", "/api/embed", R"({"input":"a","input":"b"})", 400},
    {"Deep", "/api/embed", nested(100000), 400},
    {"DeepInside", "/api/embed", R"({"input":)" + nested(1000) + "}", 400},
    {"ListInsteadOfObject", "/api/embed", "[]", 400},
    {"StringInsteadOfObject", "/api/embed", "\"a\"", 400},
    {"WrongKind", "/api/embed", R"({"input":{"text":"a"}})", 400},
    {"WrongKindInList", "/api/embed", R"({"input":["a",1]})", 400},
    {"WrongKindTei", "/embed", R"({"inputs":true})", 422},
    {"WrongKindCohere", "/v2/embed", R"({"model":"tiny/embedder","texts":"a"})", 400},
    {"WrongKindKserve", "/v2/models/tiny/embedder/infer", R"({"inputs":"a"})", 400},
    {"MissingInput", "/api/embed", R"({"model":"tiny/embedder"})", 400},
    {"TooManyInputs", "/api/embed", R"({"input":["a","a","a","a","a","a","a","a","a"]})", 413},
    {"TooManyInputsOpenAi", "/v1/embeddings", R"({"model":"embedder","input":["a","a","a","a","a","a","a","a","a"]})",
     400},
    {"IdOutsideTheVocabulary", "/v1/embeddings", R"({"model":"embedder","input":[[1,99999999]]})", 400},
    {"NegativeId", "/v1/embeddings", R"({"model":"embedder","input":[[1,-5]]})", 400},
    {"IdBeyond32Bits", "/v1/embeddings", R"({"model":"embedder","input":[[1,4294967297]]})", 400},
    {"UnknownModel", "/api/embed", R"({"model":"nobody/nothing","input":"a"})", 404},
    {"AbsoluteModel", "/api/embed", R"({"model":"/etc/passwd","input":"a"})", 404},
    {"TraversingModel", "/api/embed", R"({"model":"../../etc","input":"a"})", 404},
    {"TraversingModelInside", "/api/embed", R"({"model":"tiny/../tiny/embedder","input":"a"})", 404},
    {"BackslashModel", "/api/embed", R"({"model":"..\\..\\etc","input":"a"})", 404},
    {"ZeroByteInModel", "/api/embed", R"({"model":"tiny/embedder\u0000","input":"a"})", 404},
    {"LongModel", "/api/embed", R"({"model":")" + std::string(5000, 'm') + R"(","input":"a"})", 404},
    {"DownloadModel", "/api/embed", R"({"model":"hf:owner/name","input":"a"})", 404},
    {"TraversingModelInPath", "/models/..%2F..%2Fetc/embed", R"({"inputs":"a"})", 404},
    {"ZeroByteInPath", "/models/a%00b/embed", R"({"inputs":"a"})", 404},
    {"BrokenEscapeInPath", "/models/a%zz/embed", R"({"inputs":"a"})", 400},
    {"BodyTooLarge", "/api/embed", R"({"input":")" + std::string(std::size_t{2} << 20, 'a') + R"("})", 413},
    {"WrongContentType", "/api/embed", R"({"input":"a"})", 415, "Content-Type: text/plain\r\n"},
    {"FormContentType", "/v1/embeddings", R"({"model":"embedder","input":"a"})", 415,
     "Content-Type: application/x-www-form-urlencoded\r\n"},
    {"Compressed", "/api/embed", R"({"input":"a"})", 415, "Content-Encoding: gzip\r\n"},
    {"ForeignPage", "/api/embed", R"({"input":"a"})", 403, "Origin: https://evil.example\r\n"},
    {"UnknownPrompt", "/api/embed", R"({"input":"a","prompt_name":"nothing"})", 422},
};

INSTANTIATE_TEST_SUITE_P(Application, BadBodies, testing::ValuesIn(kBadBodies),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(Application, WantsAKeyOnEveryRouteButHealth) {
  const RunningApplication server([](Settings& settings) { settings.api_keys = {"secret-one", "secret-two"}; });
  for (const char* path : {"/api/tags", "/v1/models", "/info", "/metrics", "/docs", "/", "/openapi.json", "/no/such",
                           "/v2/models/tiny/embedder"})
    EXPECT_EQ(server.get(path).status, 401) << path;
  EXPECT_EQ(server.post("/api/embed", R"({"input":"a"})").status, 401);
  EXPECT_EQ(server.post("/api/embed", R"({"input":"a"})", "Authorization: Bearer wrong\r\n").status, 401);
  EXPECT_EQ(server.post("/api/embed", R"({"input":"a"})", "Authorization: Bearer secret-two\r\n").status, 200);
  EXPECT_EQ(server.post("/api/embed", R"({"input":"a"})", "X-API-Key: secret-one\r\n").status, 200);
  for (const char* path : {"/health", "/healthz", "/livez", "/v2/health/live"})
    EXPECT_EQ(server.get(path).status, 200) << path;
}

// Every route whose body may name a model, with a body that names none.
struct Unnamed {
  const char* path;
  const char* members;
  int status_of_null;
};
constexpr Unnamed kUnnamed[] = {{"/api/embed", R"("input":"a")", 400},
                                {"/ai/v1/embed", R"("input":"a")", 400},
                                {"/v1/embeddings", R"("input":"a")", 400},
                                {"/v2/embed", R"("texts":["a"])", 400},
                                {"/api/embeddings", R"("prompt":"a")", 400},
                                {"/api/show", R"("verbose":false)", 400},
                                {"/embed", R"("inputs":"a")", 422},
                                {"/embed_all", R"("inputs":"a")", 422},
                                {"/similarity", R"("inputs":{"source_sentence":"a","sentences":["b"]})", 422},
                                {"/tokenize", R"("inputs":"a")", 422},
                                {"/decode", R"("ids":[5])", 422},
                                {"/", R"("inputs":"a")", 422}};

TEST(Application, RequestsThatNameNoModelGetTheDefaultOneAndNullOrNothingIsNoName) {
  const RunningApplication server;
  for (const Unnamed& each : kUnnamed) {
    const std::string members = each.members;
    const Answer unnamed = server.post(each.path, "{" + members + "}");
    EXPECT_EQ(unnamed.status, 200) << each.path << unnamed.body;
    const Answer null = server.post(each.path, R"({"model":null,)" + members + "}");
    EXPECT_EQ(null.status, each.status_of_null) << each.path << null.body;
    EXPECT_NE(null.body.find("model is null"), std::string::npos) << each.path << null.body;
    const Answer empty = server.post(each.path, R"({"model":"",)" + members + "}");
    EXPECT_EQ(empty.status, each.status_of_null) << each.path << empty.body;
    EXPECT_NE(empty.body.find("model is empty; it must have at least 1 character, or be left out"), std::string::npos)
        << each.path << empty.body;
    const Answer variant = server.post(each.path, R"({"model":"embedder:int3",)" + members + "}");
    const bool is_400 = std::string_view(each.path).starts_with("/v");
    EXPECT_EQ(variant.status, is_400 ? 400 : 422) << each.path << variant.body;
    const Answer fetched = server.post(each.path, R"({"model":"hf:tiny/embedder",)" + members + "}");
    EXPECT_EQ(fetched.status, 404) << each.path << fetched.body;
  }
  EXPECT_EQ(server.get("/info").status, 200);
}

// Of every route that reads a model's name, also those that no embedder serves.
TEST(Application, AnEmptyModelNameIsRefusedByEveryRoute) {
  const RunningApplication server;
  const std::pair<const char*, const char*> routes[] = {{"/api/rerank", R"("query":"a","prompts":["b"])"},
                                                        {"/api/classify", R"("texts":["a"])"},
                                                        {"/api/recognize", R"("texts":["a"])"},
                                                        {"/api/redact", R"("texts":["a"])"},
                                                        {"/api/answer", R"("question":"a","texts":["b"])"},
                                                        {"/api/fill", R"("texts":["a"])"},
                                                        {"/api/extract", R"("texts":["a"],"schema":{})"},
                                                        {"/api/similarity", R"("texts":["a","b"])"},
                                                        {"/api/chunk", R"("text":"a")"},
                                                        {"/api/search", R"("index":"none","query":"a")"},
                                                        {"/v1/rerank", R"("query":"a","documents":["b"])"},
                                                        {"/v2/rerank", R"("query":"a","documents":["b"])"},
                                                        {"/v1/multi-vector", R"("input":"a")"},
                                                        {"/embed_sparse", R"("inputs":"a")"},
                                                        {"/rerank", R"("query":"a","texts":["b"])"},
                                                        {"/predict", R"("inputs":"a")"},
                                                        {"/api/pull", R"("stream":false)"}};
  for (const auto& [path, members] : routes) {
    const Answer answer = server.post(path, R"({"model":"",)" + std::string(members) + "}");
    EXPECT_TRUE(answer.status == 400 || answer.status == 422) << path << answer.body;
    EXPECT_NE(answer.body.find("model is empty"), std::string::npos) << path << answer.body;
  }
  EXPECT_EQ(server.post("/api/chunk", R"({"text":"a","config":{"model":""}})").status, 400);
  EXPECT_EQ(server.post("/api/search", R"({"index":"none","query":"a","rerank_model":""})").status, 400);
  // Older clients of Ollama's say name, newer ones send an empty one beside model.
  EXPECT_EQ(server.post("/api/show", R"({"model":"","name":"tiny/other"})").status, 200);
  EXPECT_EQ(server.post("/api/show", R"({"model":"tiny/other","name":""})").status, 200);
  EXPECT_EQ(server.post("/api/show", R"({"model":"","name":""})").status, 400);
  EXPECT_EQ(server.post("/api/show", R"({"name":""})").status, 400);
}

TEST(Application, ErrorsAreUtf8WhateverTheRequestWas) {
  const RunningApplication server;
  const auto expect_utf8 = [](const Answer& answer) {
    EXPECT_GE(answer.status, 400);
    EXPECT_EQ(formats::valid_utf8_prefix(answer.body), answer.body.size()) << answer.body;
    EXPECT_NO_THROW(json_of(answer)) << answer.body;
  };
  for (const char* path : {"/v1/models/%FF", "/v2/models/a%C3/ready", "/v2/models/%E2%82", "/models/%FF%FE/info",
                           "/v2/models/tiny/embedder/versions/%FF", "/%FF", "/api/%FF"})
    expect_utf8(server.get(path));
  for (const char* path : {"/models/%FF/embed", "/v2/models/%FF/infer", "/v2/repository/models/%FF/load"})
    expect_utf8(server.post(path, R"({"inputs":"a"})"));
  for (const Unnamed& each : kUnnamed) {
    expect_utf8(server.post(each.path, "{\"model\":\"\xFF\"," + std::string(each.members) + "}"));
    expect_utf8(server.post(each.path, "{\"\xC3\":1,\"\xC3\":1}"));
    expect_utf8(server.post(each.path, "{}", "Content-Type: text/\xFF\r\n"));
  }
}

TEST(Application, EachFamilyHasItsErrors) {
  const RunningApplication server;
  EXPECT_TRUE(json_of(server.get("/v1/models/no/such")).find("error")->find("message")->is_string());
  EXPECT_EQ(json_of(server.get("/v1/models/no/such")).find("error")->get_string("code", ""), "model_not_found");
  EXPECT_TRUE(json_of(server.post("/embed", "{")).find("error_type")->is_string());
  EXPECT_TRUE(json_of(server.post("/v2/embed", "{")).find("message")->is_string());
  EXPECT_TRUE(json_of(server.post("/api/show", R"({"model":"nothing"})")).find("error")->is_string());
  EXPECT_TRUE(json_of(server.get("/v2/models/nothing")).find("error")->is_string());
  EXPECT_TRUE(json_of(server.get("/api/nothing")).find("error")->is_string());
}

TEST(Application, NamesTheMethodsOfARoute) {
  const RunningApplication server;
  const Answer refused = server.get("/api/embed");
  EXPECT_EQ(refused.status, 405);
  EXPECT_EQ(header_of(refused, "Allow"), "POST, OPTIONS");
  const Answer options = server.send(Client::request("OPTIONS", "/v1/models", ""));
  EXPECT_EQ(options.status, 204);
  EXPECT_EQ(header_of(options, "Allow"), "GET, HEAD, OPTIONS");
}

TEST(Application, LetsPagesOfAllowedOriginsRead) {
  const RunningApplication server([](Settings& settings) { settings.cors = {"https://app.example"}; });
  const std::string origin = "Origin: https://app.example\r\n";
  const Answer preflight =
      server.send(Client::request("OPTIONS", "/api/embed", "", origin + "Access-Control-Request-Method: POST\r\n"));
  EXPECT_EQ(preflight.status, 204);
  EXPECT_EQ(header_of(preflight, "Access-Control-Allow-Origin"), "https://app.example");
  EXPECT_EQ(header_of(server.post("/api/embed", R"({"input":"a"})", origin), "Access-Control-Allow-Origin"),
            "https://app.example");
  EXPECT_EQ(server.post("/api/embed", R"({"input":"a"})", "Origin: https://other.example\r\n").status, 403);
}

TEST(Application, RefusesWhatForeignPagesLoadWithoutAnOrigin) {
  const RunningApplication server;
  const std::string foreign = "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n";
  for (const char* path : {"/api/tags", "/v2/models/tiny/embedder", "/docs", "/openapi.json", "/"})
    EXPECT_EQ(server.get(path, foreign).status, 403) << path;
  EXPECT_EQ(server.get("/health", foreign).status, 200);
  // A link leads to the pages.
  const std::string link = "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n";
  EXPECT_EQ(server.get("/docs", link).status, 200);
  EXPECT_EQ(server.get("/", link).status, 200);
  EXPECT_EQ(server.get("/docs/", link).status, 308);
  EXPECT_EQ(server.get("/api/tags", link).status, 403);
  EXPECT_EQ(server.get("/api/tags", "Sec-Fetch-Site: none\r\nSec-Fetch-Mode: navigate\r\n").status, 200);
  EXPECT_EQ(server.get("/api/tags", "Sec-Fetch-Site: same-origin\r\n").status, 200);
}

TEST(Application, APathWithASlashAtItsEndIsThatWithoutIt) {
  const RunningApplication server([](Settings& settings) { settings.base_path = "/models-api"; });
  const auto location = [&](const Answer& answer) {
    return std::to_string(answer.status) + " " + header_of(answer, "Location");
  };
  EXPECT_EQ(location(server.get("/models-api/docs/")), "308 ../docs");
  EXPECT_EQ(location(server.get("/models-api/v1/models/?a=b")), "308 ../models?a=b");
  EXPECT_EQ(location(server.get("/models-api/v1/models/tiny/embedder/")), "308 ../embedder");
  EXPECT_EQ(location(server.post("/models-api/v1/embeddings/", R"({"input":"a"})")), "308 ../embeddings");
  EXPECT_EQ(location(server.get("/models-api/")).substr(0, 3), "200");
  for (const char* path : {"/models-api/nothing/", "/models-api/docs//", "/docs/", "//"})
    EXPECT_EQ(server.get(path).status, 404) << path;
  const RunningApplication keyed([](Settings& settings) { settings.api_keys = {"secret"}; });
  EXPECT_EQ(keyed.get("/docs/").status, 401);
}

TEST(Application, WrongTypesAreToldTheRightOnes) {
  const RunningApplication server;
  const std::string text = "Content-Type: text/plain\r\n";
  for (const char* path : {"/api/embed", "/v1/embeddings", "/embed", "/v2/rerank"}) {
    const Answer answer = server.post(path, "{}", text);
    EXPECT_EQ(answer.status, 415) << path;
    EXPECT_EQ(header_of(answer, "Accept"), "application/json") << path;
    EXPECT_EQ(header_of(answer, "Accept-Post"), "application/json") << path;
    EXPECT_NE(answer.body.find("send Content-Type: application/json"), std::string::npos) << answer.body;
  }
  const Answer tensors = server.post("/v2/models/tiny/embedder/infer", "{}", text);
  EXPECT_EQ(tensors.status, 415);
  EXPECT_EQ(header_of(tensors, "Accept"), "application/json, application/octet-stream");
  const Answer compressed = server.post("/api/embed", "{}", "Content-Encoding: gzip\r\n");
  EXPECT_EQ(compressed.status, 415);
  EXPECT_EQ(header_of(compressed, "Accept-Encoding"), "identity");
  EXPECT_EQ(header_of(compressed, "Accept"), "");
}

TEST(Application, SpeaksOfHttpsInTheShapeOfThePath) {
  const base::TemporaryFolder folder;
  const std::string certificate = (folder.path() / "cert.pem").string(), key = (folder.path() / "key.pem").string();
  write_certificate(certificate, key, "localhost");
  const RunningApplication server([&](Settings& settings) {
    settings.tls_certificate = certificate;
    settings.tls_key = key;
  });
  const auto message = [](const Answer& answer, std::string_view family) {
    EXPECT_EQ(answer.status, 400);
    const Json body = json_of(answer);
    if (family == "openai") return body.find("error")->get_string("message", "");
    if (family == "cohere") return body.get_string("message", "");
    EXPECT_EQ(body.find("error_type") != nullptr, family == "tei") << answer.body;
    return body.get_string("error", "");
  };
  const std::pair<const char*, const char*> paths[] = {{"/v1/models", "openai"}, {"/v2/rerank", "cohere"},
                                                       {"/embed", "tei"},        {"/v2/models/a", "kserve"},
                                                       {"/api/tags", "ollama"},  {"/health", "operations"}};
  for (const auto& [path, family] : paths) {
    EXPECT_NE(message(server.get(path), family).find("HTTPS"), std::string::npos) << path;
    EXPECT_NE(message(server.post(path, R"({"input":"a"})"), family).find("HTTPS"), std::string::npos) << path;
  }
  // Of a head that has faults of its own, too.
  EXPECT_NE(server.send("GET /v1/models HTTP/1.1\r\nno colon\r\n\r\n").body.find("HTTPS"), std::string::npos);
}

TEST(Application, TakesWhatCurlSendsWhereOllamaDoes) {
  const RunningApplication server;
  const std::string form = "Content-Type: application/x-www-form-urlencoded\r\n";
  EXPECT_EQ(server.post("/api/embed", R"({"input":"a"})", form).status, 200);
}

TEST(Application, RefusesNamesThatForeignPagesMadePointHere) {
  const RunningApplication server;
  load::Client client(server.port());
  EXPECT_EQ(client.exchange("GET /api/version HTTP/1.1\r\nHost: evil.example\r\n\r\n").status, 403);
  EXPECT_EQ(server.get("/api/version").status, 200);
}

TEST(Application, RefusesForeignNamesOnEveryAddressUnlessItHasKeys) {
  const auto status = [](const RunningApplication& server, const std::string& host) {
    return server.send("GET /api/version HTTP/1.1\r\nHost: " + host + "\r\n\r\n").status;
  };
  // As the images are started.
  const RunningApplication open([](Settings& settings) {
    settings.host = "0.0.0.0";
    settings.allowed_hosts = {"alate"};
  });
  const std::string machine = machine_name();
  for (const std::string& host :
       {std::string("evil.example"), std::string("evil.example:11433"), std::string("127.0.0.1.evil.example"),
        std::string("notlocalhost"), machine + ".evil.example", "x" + machine})
    EXPECT_EQ(status(open, host), 403) << host;
  for (const std::string& host : {std::string("127.0.0.1"), std::string("192.168.7.9:11433"), std::string("[::1]:80"),
                                  std::string("localhost:11433"), std::string("alate:11433"), machine})
    EXPECT_EQ(status(open, host), 200) << host;
  const load::Answer refused = open.send("GET /api/version HTTP/1.1\r\nHost: embedder\r\n\r\n");
  EXPECT_NE(refused.body.find("embedder"), std::string::npos) << refused.body;
  EXPECT_NE(refused.body.find("--allowed-hosts"), std::string::npos) << refused.body;
  EXPECT_NE(refused.body.find("ALATE_ALLOWED_HOSTS"), std::string::npos) << refused.body;
  // Restarting by health needs no name.
  EXPECT_EQ(open.send("GET /health HTTP/1.1\r\nHost: embedder\r\n\r\n").status, 200);
  // Who sees it from another machine must not be called from that machine's own pages.
  EXPECT_EQ(open.get("/api/version", "Origin: http://localhost:3000\r\n").status, 403);

  const RunningApplication keyed([](Settings& settings) {
    settings.host = "0.0.0.0";
    settings.api_keys = {"secret"};
  });
  EXPECT_EQ(status(keyed, "evil.example"), 401);
  EXPECT_EQ(keyed.send("GET /api/version HTTP/1.1\r\nHost: embedder\r\nX-API-Key: secret\r\n\r\n").status, 200);
}

TEST(Application, ServesAnotherClientWhileOneFillsTheQueue) {
  const RunningApplication server([](Settings& settings) {
    settings.max_concurrent_requests = 2;
    settings.max_queue_size = 2;
    settings.max_client_percent = 50;
    settings.batch_max_wait = std::chrono::seconds(2);  // requests that have begun wait this long for others
  });
  ASSERT_EQ(server.post("/api/embed", R"({"input":[]})").status, 200);  // loaded
  std::vector<std::unique_ptr<Client>> greedy;
  for (int i = 0; i < 8; ++i) {
    greedy.push_back(std::make_unique<Client>(server.port()));
    greedy.back()->connect();
    greedy.back()->send(Client::request("POST", "/api/embed", R"({"input":"greedy )" + std::to_string(i) + "\"}"));
  }
  // One runs, one waits, the others are refused.
  const auto text = [&] { return server.get("/metrics").body; };
  while (text().find("alate_rejected_requests_total{reason=\"queue_full\"} 6") == std::string::npos) {
  }
  EXPECT_NE(text().find("alate_requests_running 1\n"), std::string::npos) << text();
  EXPECT_NE(text().find("alate_requests_waiting 1\n"), std::string::npos) << text();
  Client other(server.port(), "127.0.0.2");
  EXPECT_EQ(other.exchange(Client::request("POST", "/api/embed", R"({"input":"other"})")).status, 200);
  std::map<int, int> statuses;
  for (const auto& client : greedy) ++statuses[client->receive().status];
  EXPECT_EQ(statuses, (std::map<int, int>{{200, 2}, {503, 6}}));
}

TEST(Application, KeysAreClientsWhateverTheirAddress) {
  const RunningApplication server([](Settings& settings) {
    settings.api_keys = {"first", "second"};
    settings.max_concurrent_requests = 2;
    settings.max_queue_size = 0;
    settings.max_client_percent = 50;
    settings.batch_max_wait = std::chrono::seconds(2);
  });
  const std::string first = "X-API-Key: first\r\n", second = "X-API-Key: second\r\n";
  ASSERT_EQ(server.post("/api/embed", R"({"input":[]})", first).status, 200);  // loaded
  Client greedy(server.port());
  greedy.connect();
  greedy.send(Client::request("POST", "/api/embed", R"({"input":"greedy"})", first));
  while (server.get("/metrics", first).body.find("alate_requests_running 1\n") == std::string::npos) {
  }
  Client elsewhere(server.port(), kOtherAddress);
  EXPECT_EQ(elsewhere.exchange(Client::request("POST", "/api/embed", R"({"input":"more"})", first)).status, 503);
  EXPECT_EQ(server.post("/api/embed", R"({"input":"other"})", second).status, 200);
  EXPECT_EQ(greedy.receive().status, 200);
}

TEST(Application, AnswersForHealthWhenOneClientHasAllConnections) {
  const RunningApplication server([](Settings& settings) {
    settings.max_connections = 2;
    settings.max_client_percent = 100;
  });
  std::vector<std::unique_ptr<Client>> greedy;
  for (int i = 0; i < 2; ++i) {
    greedy.push_back(std::make_unique<Client>(server.port()));
    greedy.back()->connect();
    greedy.back()->send("POST /api/embed HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{");
  }
  const auto status = [&](const std::string& path) {
    Client other(server.port(), kOtherAddress);
    return other.exchange(Client::request("GET", path, "")).status;
  };
  // The server may not have read both by now.
  wait_until([&] { return status("/api/version") == 503; });
  for (const char* path : {"/health", "/healthz", "/v2/health/live"}) EXPECT_EQ(status(path), 200) << path;
  wait_until([&] { return status("/readyz") == 200; });  // as soon as the model is loaded
}

TEST(Application, ComputesNothingMoreForAClientThatDoesNotReadItsAnswers) {
  const RunningApplication server([](Settings& settings) {
    settings.max_concurrent_requests = 2;
    settings.max_client_percent = 50;
    settings.max_inputs = 50000;
  });
  std::string texts = R"({"input":["a")";
  for (int i = 1; i < 50000; ++i) texts += R"(,"a")";
  const std::string request = Client::request("POST", "/api/embed", texts + "]}");
  std::vector<RawClient> greedy;
  for (int i = 0; i < 6; ++i) {
    greedy.push_back(RawClient::tcp(server.port()));
    const int few = 4096;
    ASSERT_EQ(::setsockopt(greedy.back().descriptor(), SOL_SOCKET, SO_RCVBUF, &few, sizeof few), 0);
    ASSERT_TRUE(greedy.back().send(request));
  }
  const auto shows = [&](const std::string& line) {
    return server.get("/metrics").body.find("\n" + line + "\n") != std::string::npos;
  };
  const auto holds_back = [&] {
    return !shows("alate_answer_bytes 0") && shows("alate_requests_running 1") && shows("alate_requests_waiting 5");
  };
  wait_until(holds_back);
  Client other(server.port(), kOtherAddress);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(other.exchange(Client::request("POST", "/api/embed", R"({"input":"other"})")).status, 200);
  EXPECT_TRUE(holds_back()) << server.get("/metrics").body;
  // The place of the first is kept until it goes; then the next is computed.
  greedy.erase(greedy.begin());
  wait_until([&] { return shows("alate_requests_running 1") && shows("alate_requests_waiting 4"); });
  greedy.clear();
  wait_until([&] { return shows("alate_answer_bytes 0") && shows("alate_requests_running 0"); });
}

TEST(Application, TellsTimesModelAndRequestId) {
  const RunningApplication server;
  const Answer answer = server.post("/api/embed", R"({"input":"a"})", "X-Request-Id: my-id-7\r\n");
  ASSERT_EQ(answer.status, 200);
  EXPECT_EQ(header_of(answer, "X-Request-Id"), "my-id-7");
  EXPECT_EQ(header_of(answer, "X-Model-Fingerprint"),
            to_string(EmbeddingPipeline::load(server.model()).model().fingerprint()));
  EXPECT_NE(header_of(answer, "Server-Timing").find("compute;dur="), std::string::npos);
  EXPECT_EQ(header_of(server.get("/api/version"), "Server-Timing"), "");
}

TEST(Application, RefusesWhenTheQueueIsFull) {
  const RunningApplication server([](Settings& settings) {
    settings.max_concurrent_requests = 1;
    settings.max_queue_size = 0;
    settings.batch_max_wait = std::chrono::seconds(2);  // the first request waits this long for others
  });
  ASSERT_EQ(server.post("/api/embed", R"({"input":[]})").status, 200);  // loaded
  std::map<int, int> statuses;
  std::vector<std::future<Answer>> answers;
  for (int i = 0; i < 6; ++i) {
    answers.push_back(std::async(std::launch::async, [&server, i] {
      return server.post("/api/embed", R"({"input":"text )" + std::to_string(i) + "\"}");
    }));
  }
  for (auto& answer : answers) {
    const Answer got = answer.get();
    ++statuses[got.status];
    EXPECT_EQ(header_of(got, "Retry-After").empty(), got.status != 503) << got.body;
  }
  EXPECT_GE(statuses[200], 1);
  EXPECT_GE(statuses[503], 1);
  EXPECT_EQ(statuses[200] + statuses[503], 6);
}

TEST(Application, AnswersWhatItTookBeforeItStops) {
  RunningApplication server([](Settings& settings) { settings.batch_max_wait = std::chrono::milliseconds(300); });
  ASSERT_EQ(server.post("/api/embed", R"({"input":[]})").status, 200);
  load::Client client(server.port());
  client.connect();
  client.send(Client::request("POST", "/api/embed", R"({"input":"finish me"})"));
  // It counts as taken once the server says that a request is under way.
  while (server.get("/metrics").body.find("alate_requests_running 1") == std::string::npos) {
  }
  server.application().stop();
  const Answer answer = client.receive();
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(header_of(answer, "Connection"), "close");
  server.stop();
}

TEST(Application, CountsWhatItDoes) {
  const RunningApplication server;
  ASSERT_EQ(server.post("/api/embed", R"({"input":["a","b c"]})").status, 200);
  ASSERT_EQ(server.get("/nothing").status, 404);
  const std::string text = server.get("/metrics").body;
  for (const char* line : {"alate_http_requests_total{method=\"POST\",route=\"/api/embed\",code=\"200\"} 1\n",
                           "alate_http_errors_total{route=\"unknown\",code=\"404\"} 1\n", "alate_batch_rows_sum 2\n",
                           "alate_model_info{model=\"tiny/embedder\",backend=\"cpu\",",
                           "alate_stage_duration_seconds_count{stage=\"compute\"} 1"})
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
}

TEST(Application, UnloadsAModelThatIsNotUsed) {
  const RunningApplication server;
  const auto loaded = [&] { return json_of(server.get("/api/ps")).find("models")->as_array("models").size(); };
  ASSERT_EQ(server.post("/api/embed", R"({"model":"tiny/other","input":"a"})").status, 200);
  const std::size_t before = loaded();
  ASSERT_EQ(server.post("/api/embed", R"({"model":"tiny/other","input":[],"keep_alive":0})").status, 200);
  while (loaded() == before) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(server.post("/api/embed", R"({"model":"tiny/other","input":"a"})").status, 200);
}

// Whatever has keep_alive in its body, with a model that both may use.
TEST(Application, OnlyAdministratorsHaveAModelUnloadedByKeepAlive) {
  const RunningApplication server([](Settings& settings) { settings.api_keys = {"user", "admin boss"}; });
  const std::string user = "Authorization: Bearer user\r\n", boss = "Authorization: Bearer boss\r\n";
  const auto is_loaded = [&] {
    const Json processes = json_of(server.get("/api/ps", boss));
    return std::ranges::any_of(processes.find("models")->as_array("models"),
                               [](const Json& each) { return each.get_string("name", "") == "tiny/other"; });
  };
  const std::pair<const char*, const char*> routes[] = {{"/api/embed", R"("input":"a")"},
                                                        {"/ai/v1/embed", R"("input":[])"},
                                                        {"/api/embeddings", R"("prompt":"a")"},
                                                        {"/api/similarity", R"("texts":["a","b"])"},
                                                        {"/api/chunk", R"("text":"a")"},
                                                        {"/api/chunk", R"("text":"a","late":true)"},
                                                        {"/api/chunk", R"("text":"a","config":{"method":"fixed"})"}};
  for (const auto& [path, members] : routes) {
    SCOPED_TRACE(std::string(path) + members);
    const auto post = [&](const std::string& key, const char* keep_alive) {
      const Answer answer = server.post(
          path, R"({"model":"tiny/other","keep_alive":)" + std::string(keep_alive) + "," + members + "}", key);
      EXPECT_EQ(answer.status, 200) << answer.body;
      return header_of(answer, "X-Keep-Alive-Ignored");
    };
    EXPECT_EQ(post(user, "\"1h\""), "");  // longer than the 5 minutes that it is loaded for
    EXPECT_NE(post(user, "0"), "");
    EXPECT_NE(post(user, "\"5m\""), "");
    EXPECT_EQ(post(boss, "\"5m\""), "");
  }
  EXPECT_TRUE(is_loaded());
  const Answer last = server.post("/api/embed", R"({"model":"tiny/other","input":[],"keep_alive":0})", boss);
  EXPECT_EQ(last.status, 200);
  while (is_loaded()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

TEST(Application, AnswersUnderItsBasePath) {
  const RunningApplication server([](Settings& settings) { settings.base_path = "/models-api"; });
  EXPECT_EQ(server.get("/models-api/api/version").status, 200);
  EXPECT_EQ(server.get("/api/version").status, 404);
  EXPECT_EQ(server.get("/health").status, 200);
  EXPECT_TRUE(json_of(server.get("/models-api/v1/nothing")).find("error")->is_object()) << "not in OpenAI's shape";
}

}  // namespace
}  // namespace alate::server
