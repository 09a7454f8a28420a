#include "server/api/cohere.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "base/files/mapped_file.h"
#include "server/models/embed_task.h"
#include "tests/source_folder.h"
#include "tests/unit/server/route_testing.h"

namespace alate::server {
namespace {

using formats::Json;

const Route& route() {
  static const std::vector<Route> routes = cohere_routes();
  return routes.front();
}

bool takes(std::string_view body) {
  static const Schema schema = Schema::parse(route().body);
  return !schema.check(formats::parse_json(body, "body"));
}

std::vector<float> floats(const Json& list) {
  std::vector<float> values;
  for (const Json& value : list.as_array("list")) values.push_back(static_cast<float>(value.as_double("value")));
  return values;
}

const Json& golden() {
  static const Json json =
      formats::parse_json(base::read_text_file(source_folder() / "tests/golden/server/vectors.json"), "vectors.json");
  return json;
}

std::string as_type(EmbedAnswer answer, std::string_view type) {
  ItemizedBody body;
  add_cohere_embeddings(body, take_vectors(answer), type);
  return body.text();
}

EmbedAnswer golden_answer() {
  EmbedAnswer answer;
  for (const Json& row : golden().find("rows")->as_array("rows")) {
    const std::vector<float> values = floats(row);
    answer.dimensions = values.size();
    answer.vectors.insert(answer.vectors.end(), values.begin(), values.end());
    ++answer.rows;
  }
  return answer;
}

TEST(CohereEmbeddings, AreQuantizedAndPackedAsSentenceTransformersDoes) {
  const EmbedAnswer answer = golden_answer();
  ASSERT_EQ(answer.rows, 5U);
  for (const char* type : {"int8", "uint8", "binary", "ubinary", "base64"})
    EXPECT_EQ(as_type(answer, type), formats::to_json_text(*golden().find(type))) << type;
}

TEST(CohereEmbeddings, InBytesAreStepsFromMinusOneToOne) {
  EmbedAnswer answer;
  answer.rows = 1;
  answer.dimensions = 5;
  answer.vectors = {0.7F, -0.8F, 0, 3, -1e30F};
  EXPECT_EQ(as_type(answer, "uint8"), "[[216,25,127,255,0]]");  // 1.7 and 0.2 · 127.5, rounded down; the nearest step
  EXPECT_EQ(as_type(answer, "int8"), "[[88,-103,-1,127,-128]]");
}

TEST(CohereEmbeddings, FillTheLastByteOfSignsWithZeros) {
  EmbedAnswer answer;
  answer.rows = 1;
  answer.dimensions = 9;
  answer.vectors = {1, 0, -1, 2, 0, 0, 0, 3, 4};
  EXPECT_EQ(as_type(answer, "ubinary"), "[[145,128]]");
  EXPECT_EQ(as_type(answer, "binary"), "[[17,0]]");
}

TEST(CohereEmbeddings, AsFloatsAreThoseOfEveryOtherFamily) {
  EmbedAnswer answer;
  answer.rows = 2;
  answer.dimensions = 1;
  answer.vectors = {0.1F, -2};
  EXPECT_EQ(as_type(answer, "float"), "[[0.1],[-2]]");
}

TEST(CohereEmbed, TakesTextsOrInputsAndRefusesHostileBodiesBySchema) {
  EXPECT_TRUE(takes(R"({"model":"m","texts":["a"],"input_type":"search_query","embedding_types":["int8","float"]})"));
  EXPECT_TRUE(takes(R"({"model":"m","inputs":[{"content":[{"type":"text","text":"a"}]}],"truncate":"NONE"})"));
  EXPECT_TRUE(takes(R"({"texts":["a"]})"));
  for (const char* body :
       {R"({"model":null,"texts":["a"]})", R"({"model":"m","texts":[]})", R"({"model":"m","texts":"a"})",
        R"({"model":"m","texts":[1]})", R"({"model":"m","texts":["a"],"input_type":"other"})",
        R"({"model":"m","texts":["a"],"embedding_types":["int4"]})",
        R"({"model":"m","texts":["a"],"embedding_types":"float"})", R"({"model":"m","texts":["a"],"truncate":"end"})",
        R"({"model":"m","texts":["a"],"output_dimension":0})",
        R"({"model":"m","texts":["a"],"output_dimension":1e300})", R"({"model":"m","inputs":[{"content":[]}]})",
        R"({"model":"m","inputs":[{}]})", R"({"model":"m","inputs":["a"]})"})
    EXPECT_FALSE(takes(body)) << body;
}

TEST(RandomUuid, IsOfVersionFourAndNeverTheSame) {
  const std::regex form("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}");
  const std::string first = random_uuid(), second = random_uuid();
  EXPECT_TRUE(std::regex_match(first, form)) << first;
  EXPECT_NE(first, second);
}

class CohereRoute : public RouteTest {
 protected:
  CohereRoute() { add("tiny/prompts", "st_prompts"); }
  Response embed(const std::string& members) {
    return call(cohere_routes(), Method::post, "/v2/embed", R"({"model":"tiny/prompts",)" + members + "}");
  }
  Tensor wanted(const std::string& text, const EmbedOptions& options = {}) const {
    return EmbeddingPipeline::load(settings.models_dir / "tiny/prompts").embed(std::vector{text}, options).vectors;
  }
};

void expect_row(const Response& response, const Tensor& wanted) {
  ASSERT_EQ(response.status, 200) << response.body;
  const Json answer = formats::parse_json(response.body, "answer");
  const std::vector<float> found = floats(answer.find("embeddings")->find("float")->as_array("rows").at(0));
  EXPECT_TRUE(std::ranges::equal(found, wanted.values<float>()));
}

TEST_F(CohereRoute, PutsTheModelsPromptOfThePurposeBeforeEachText) {
  const std::string texts = R"("texts":["the cat"])";
  EmbedOptions query, passage;
  query.prompt_name = "query";
  passage.prompt_name = "passage";
  expect_row(embed(texts + R"(,"input_type":"search_query")"), wanted("the cat", query));
  expect_row(embed(texts + R"(,"input_type":"search_document")"), wanted("the cat", passage));
  // The model has no prompt of this name, but one for whatever has none.
  expect_row(embed(texts + R"(,"input_type":"clustering")"), wanted("the cat"));
  expect_row(embed(R"("inputs":[{"content":[{"type":"text","text":"the cat"}]}],"input_type":"search_query")"),
             wanted("the cat", query));
  EXPECT_FALSE(
      std::ranges::equal(wanted("the cat", query).values<float>(), wanted("the cat", passage).values<float>()));
}

TEST_F(CohereRoute, AnswersInItsWords) {
  const Response response = embed(R"("texts":["the cat"],"embedding_types":["uint8","uint8","ubinary"])");
  ASSERT_EQ(response.status, 200) << response.body;
  const auto violation = Schema::parse(route().answers.front().schema).check(json(response));
  EXPECT_FALSE(violation) << violation->message;
  EXPECT_EQ(text(json(response), "texts"), R"(["the cat"])");
  EXPECT_EQ(json(response).find("embeddings")->as_object("embeddings").size(), 2U);
  EXPECT_GT(json(response).find("meta")->find("billed_units")->get_int("input_tokens", 0), 2);
}

TEST_F(CohereRoute, RefusesWhatItCannotDo) {
  for (const char* members :
       {R"("texts":["a"],"inputs":[{"content":[{"type":"text","text":"a"}]}])", R"("input_type":"clustering")",
        R"("texts":["a"],"images":["data:,"])", R"("texts":["a"],"input_type":"image")",
        R"("texts":["a"],"max_tokens":5)", R"("inputs":[{"content":[{"type":"image_url"}]}])",
        R"("inputs":[{"content":[{"type":"text"}]}])",
        R"("inputs":[{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}])",
        R"("texts":["a"],"output_dimension":100)"}) {
    const Response response = embed(members);
    EXPECT_EQ(response.status, 400) << members << "\n" << response.body;
    EXPECT_FALSE(json(response).get_string("message", "").empty()) << members;
  }
}

}  // namespace
}  // namespace alate::server
