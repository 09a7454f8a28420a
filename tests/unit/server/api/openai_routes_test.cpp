#include "server/api/openai.h"

#include <gtest/gtest.h>

#include "server/api/text_inputs.h"
#include "tests/unit/server/route_testing.h"

namespace alate::server {
namespace {

using formats::Json;

const Route& route(std::string_view id) {
  static const std::vector<Route> routes = openai_routes();
  for (const Route& each : routes) {
    if (each.id == id) return each;
  }
  throw std::runtime_error("no such route");
}

bool takes(std::string_view body) {
  static const Schema schema = Schema::parse(route("createEmbedding").body);
  return !schema.check(formats::parse_json(body, "body"));
}

EmbedAnswer answer_of(std::size_t rows, std::size_t dimensions, std::vector<float> vectors) {
  EmbedAnswer answer;
  answer.rows = rows;
  answer.dimensions = dimensions;
  answer.vectors = std::move(vectors);
  answer.tokens = 7;
  return answer;
}

Json parsed(const std::string& body) { return formats::parse_json(body, "answer"); }

void expect_documented(const Route& each, const std::string& body) {
  const auto violation = Schema::parse(each.answers.front().schema).check(parsed(body));
  EXPECT_FALSE(violation) << body << "\n" << violation->message;
}

EmbedRequest read(std::string_view inputs) {
  EmbedRequest request;
  read_inputs(formats::parse_json(inputs, "inputs"), "input", request);
  return request;
}

std::string refusal_of(std::string_view inputs) {
  try {
    read(inputs);
  } catch (const RequestError& error) {
    EXPECT_EQ(error.problem().kind, Problem::Kind::invalid);
    EXPECT_EQ(error.problem().parameter, "input");
    return error.problem().message;
  }
  return "not refused";
}

TEST(OpenAiEmbeddings, TakesEveryFormOfInput) {
  for (const char* input : {R"("a")", R"("")", R"(["a","b"])", "[1,2,3]", "[[1,2],[3]]", "[0,2147483647]"})
    EXPECT_TRUE(takes(R"({"model":"m","input":)" + std::string(input) + "}")) << input;
  EXPECT_TRUE(
      takes(R"({"model":"m","input":"a","encoding_format":"base64","dimensions":5,"user":"u","truncate":false})"));
  EXPECT_TRUE(takes(R"({"model":"m","input":"a","encoding_format":null,"dimensions":null,"user":null})"));
  EXPECT_TRUE(takes(R"({"model":"m","input":["a"],"embedding_type":"ubinary"})"));
  EXPECT_TRUE(takes(R"({"model":"m","input":"a","unknown":{"to":"us"}})"));
  EXPECT_TRUE(takes(R"({"input":"a"})"));
}

TEST(OpenAiEmbeddings, RefusesHostileBodiesBySchema) {
  for (const char* input :
       {"[]", "[[]]", "7", "null", "{}", "true", R"(["a",1])", R"([1,"a"])", "[[1],\"a\"]", "[-1]", "[2147483648]",
        "[1e300]", "[1.5]", "[18446744073709551615]", "[[-1]]", "[[1e300]]", "[null]", "[[[1]]]"})
    EXPECT_FALSE(takes(R"({"model":"m","input":)" + std::string(input) + "}")) << input;
  for (const char* member :
       {R"("encoding_format":"hex")", R"("embedding_type":"bits")", R"("dimensions":0)", R"("dimensions":-1)",
        R"("dimensions":1e300)", R"("dimensions":1.5)", R"("dimensions":"5")", R"("user":5)", R"("truncate":"yes")"})
    EXPECT_FALSE(takes(R"({"model":"m","input":"a",)" + std::string(member) + "}")) << member;
  EXPECT_FALSE(takes(R"({"model":null,"input":"a"})"));
  EXPECT_FALSE(takes(R"({"model":"m"})"));
  EXPECT_FALSE(takes(R"({"model":"","input":"a"})"));
  EXPECT_FALSE(takes("[]"));
}

TEST(TextInputs, AreTextsOrRowsOfTokenIds) {
  EXPECT_EQ(read(R"("a")").texts, std::vector<std::string>{"a"});
  EXPECT_EQ(read(R"(["a","b"])").texts, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(read("[1,2]").token_rows, (std::vector<std::vector<std::int32_t>>{{1, 2}}));
  EXPECT_EQ(read("[[1,2],[3]]").token_rows, (std::vector<std::vector<std::int32_t>>{{1, 2}, {3}}));
  EXPECT_TRUE(read("[1,2]").texts.empty());
  EXPECT_EQ(read(R"("a")").parameter, "input");
}

TEST(TextInputs, SayWhereSomethingElseStands) {
  EXPECT_NE(refusal_of(R"(["a",1])").find("input[1] is a number"), std::string::npos);
  EXPECT_NE(refusal_of(R"([1,"a"])").find("input[1] is a string"), std::string::npos);
  EXPECT_NE(refusal_of(R"([[1],"a"])").find("input[1] is a string"), std::string::npos);
  EXPECT_NE(refusal_of(R"([[1],[2,-3]])").find("input[1][1] is -3"), std::string::npos);
  EXPECT_NE(refusal_of("[2147483648]").find("input[0] is 2147483648"), std::string::npos);
  EXPECT_NE(refusal_of("[1e300]").find("input[0]"), std::string::npos);
}

TEST(OpenAiEmbeddings, AnswersWithNumbersInTheirShortestForm) {
  const std::string body = openai_embedding_list(answer_of(2, 2, {0.1F, -2, 3.5F, 1e-7F}), "the name", "float").text();
  EXPECT_EQ(body, R"({"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.1,-2]},)"
                  R"({"object":"embedding","index":1,"embedding":[3.5,1e-07]}],"model":"the name",)"
                  R"("usage":{"prompt_tokens":7,"total_tokens":7}})");
  expect_documented(route("createEmbedding"), body);
}

TEST(OpenAiEmbeddings, AnswersInBase64OnRequest) {
  const std::string body = openai_embedding_list(answer_of(1, 2, {1, -2}), "m", "base64").text();
  // 1 is 3F800000 and -2 is C0000000, low byte first.
  EXPECT_EQ(parsed(body).find("data")->as_array("data")[0].get_string("embedding", ""), "AACAPwAAAMA=");
  expect_documented(route("createEmbedding"), body);
}

TEST(OpenAiEmbeddings, NamesTextsThatWereCutAndEchoesAnyName) {
  EmbedAnswer answer = answer_of(0, 2, {});
  answer.truncated = {0, 12};
  const std::string body = openai_embedding_list(answer, "a \"name\"\n", "float").text();
  const Json json = parsed(body);
  EXPECT_EQ(formats::to_json_text(*json.find("truncated")), "[0,12]");
  EXPECT_EQ(json.get_string("model", ""), "a \"name\"\n");
  expect_documented(route("createEmbedding"), body);
}

TEST(OpenAiModels, HaveTheirFoldersTimeAndOwner) {
  ModelListing listing;
  listing.name = "owner/model";
  listing.modified = std::chrono::system_clock::time_point(std::chrono::milliseconds(1700000000999));
  const std::string body = formats::to_json_text(openai_model(listing));
  EXPECT_EQ(body, R"({"id":"owner/model","object":"model","created":1700000000,"owned_by":"owner"})");
  expect_documented(route("retrieveModel"), body);
  listing.name = "bare";
  EXPECT_EQ(openai_model(listing).get_string("owned_by", ""), "alate");
}

class OpenAiRoutes : public RouteTest {
 protected:
  OpenAiRoutes() { add("tiny/embedder"); }
  Response embed(const std::string& members) {
    return call(openai_routes(), Method::post, "/v1/embeddings", R"({"model":"embedder",)" + members + "}");
  }
};

TEST_F(OpenAiRoutes, EmbedTextsAndTheirTokenIdsAlike) {
  const Response texts = embed(R"("input":"a b","encoding_format":"base64")");
  ASSERT_EQ(texts.status, 200) << texts.body;
  EXPECT_EQ(json(texts).get_string("model", ""), "embedder");
  // [CLS] a b [SEP], with and without the special tokens.
  EXPECT_EQ(embed(R"("input":[2,5,6,3],"encoding_format":"base64")").body, texts.body);
  EXPECT_EQ(embed(R"("input":[[5,6]],"encoding_format":"base64")").body, texts.body);
  EXPECT_NE(embed(R"("input":[[6,5]],"encoding_format":"base64")").body, texts.body);
  EXPECT_EQ(text(*json(texts).find("usage"), "prompt_tokens"), "4");
}

TEST_F(OpenAiRoutes, RefuseWhatTheModelCannotDo) {
  std::string words = "the";
  for (int i = 0; i < 60; ++i) words += " cat";
  const Response long_text = embed(R"("truncate":false,"input":["a",")" + words + R"("])");
  EXPECT_EQ(long_text.status, 400);
  EXPECT_EQ(json(long_text).find("error")->get_string("code", ""), "context_length_exceeded");
  EXPECT_EQ(text(json(embed(R"("input":["a",")" + words + R"("])")), "truncated"), "[1]");
  EXPECT_EQ(embed(R"("input":"a","dimensions":17)").status, 400);
  EXPECT_EQ(embed(R"("input":[88])").status, 400);
}

TEST_F(OpenAiRoutes, EmbedWithTheDefaultModelWhereNoneIsNamed) {
  const Response named = embed(R"("input":"a")");
  const Response unnamed = call(openai_routes(), Method::post, "/v1/embeddings", R"({"input":"a"})");
  ASSERT_EQ(unnamed.status, 200) << unnamed.body;
  EXPECT_EQ(text(json(unnamed), "data"), text(json(named), "data"));
  EXPECT_EQ(json(unnamed).get_string("model", ""), "tiny/embedder");
}

TEST_F(OpenAiRoutes, AnswerUnderAnAliasAsUnderTheModelsName) {
  settings.aliases = {{"text-embedding-3-small", "embedder"}};
  const Response aliased =
      call(openai_routes(), Method::post, "/v1/embeddings", R"({"model":"text-embedding-3-small","input":"a"})");
  ASSERT_EQ(aliased.status, 200) << aliased.body;
  EXPECT_EQ(text(json(aliased), "data"), text(json(embed(R"("input":"a")")), "data"));
  EXPECT_EQ(json(aliased).get_string("model", ""), "text-embedding-3-small");

  const Json all = json(call(openai_routes(), Method::get, "/v1/models"));
  const auto& data = all.find("data")->as_array("data");
  ASSERT_EQ(data.size(), 2U);
  EXPECT_EQ(data[0].get_string("id", ""), "tiny/embedder");
  EXPECT_EQ(data[1].get_string("id", ""), "text-embedding-3-small");
  EXPECT_EQ(text(data[1], "created"), text(data[0], "created"));
  const Response one = call(openai_routes(), Method::get, "/v1/models/text-embedding-3-small");
  EXPECT_EQ(json(one).get_string("id", ""), "text-embedding-3-small");
  EXPECT_EQ(call(openai_routes(), Method::get, "/v1/models/text-embedding-3-large").status, 404);
}

TEST_F(OpenAiRoutes, RefuseVariantsAndModelsThatWouldHaveToBeFetched) {
  const auto status = [&](const std::string& model) {
    return call(openai_routes(), Method::post, "/v1/embeddings", R"({"input":"a","model":")" + model + R"("})").status;
  };
  EXPECT_EQ(status("embedder:int3"), 400);
  EXPECT_EQ(status("hf:tiny/embedder"), 404);
  EXPECT_EQ(status("hf:tiny/embedder@main"), 404);
}

TEST_F(OpenAiRoutes, ListModelsAndFindOne) {
  add("tiny/other");
  const Response all = call(openai_routes(), Method::get, "/v1/models");
  ASSERT_EQ(all.status, 200);
  expect_documented(route("listModels"), all.body);
  EXPECT_EQ(json(all).find("data")->as_array("data").size(), 2U);
  for (const char* path : {"/v1/models/tiny/other", "/v1/models/tiny%2Fother", "/v1/models/other"}) {
    const Response one = call(openai_routes(), Method::get, path);
    ASSERT_EQ(one.status, 200) << path;
    EXPECT_EQ(json(one).get_string("id", ""), "tiny/other");
  }
  const Response none = call(openai_routes(), Method::get, "/v1/models/nothing");
  EXPECT_EQ(none.status, 404);
  EXPECT_EQ(json(none).find("error")->get_string("code", ""), "model_not_found");
}

}  // namespace
}  // namespace alate::server
