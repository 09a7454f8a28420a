#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "server/api/native.h"
#include "server/api/vector_types.h"
#include "tests/unit/server/route_testing.h"

namespace alate::server {
namespace {

using formats::Json;
using namespace std::chrono_literals;

// Two vectors of three numbers, without a model behind them.
EmbedAnswer two_vectors() {
  EmbedAnswer answer;
  answer.rows = 2;
  answer.dimensions = 3;
  answer.vectors = {0.5F, -1.0F, 0.1F, 1e-7F, 0.0F, 2.0F};
  answer.tokens = 9;
  answer.total = 1500ns;
  answer.load = 20ns;
  return answer;
}

Json body(std::string_view text) { return formats::parse_json(text, "the body"); }

std::optional<std::chrono::nanoseconds> keep_alive(std::string_view value) {
  return read_keep_alive(body("{\"keep_alive\": " + std::string(value) + "}"));
}

TEST(NativeEmbed, AnswersAsOllamaAndTermiteDo) {
  EXPECT_EQ(native_embedding_list(two_vectors(), "owner/name").text(),
            R"({"model":"owner/name","embeddings":[[0.5,-1,0.1],[1e-07,0,2]],"total_duration":1500,)"
            R"("load_duration":20,"prompt_eval_count":9})");
}

TEST(NativeEmbed, NamesTheTextsThatWereCut) {
  EmbedAnswer answer = two_vectors();
  answer.truncated = {0, 1};
  const Json made = body(native_embedding_list(answer, "m").text());
  EXPECT_EQ(formats::to_json_text(*made.find("truncated")), "[0,1]");
}

TEST(NativeEmbed, NoTextsAreNoVectors) {
  EmbedAnswer answer;
  answer.dimensions = 3;
  EXPECT_EQ(formats::to_json_text(*body(native_embedding_list(answer, "m").text()).find("embeddings")), "[]");
}

TEST(NativeEmbed, OctetsAreCountDimensionsAndNumbers) {
  const std::string octets = embedding_octets(two_vectors()).text();
  ASSERT_EQ(octets.size(), 16 + 6 * 4U);
  EXPECT_EQ(octets.substr(0, 8), std::string("\2\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(octets.substr(8, 8), std::string("\3\0\0\0\0\0\0\0", 8));
  // 0.5 is 0x3F000000, -1 is 0xBF800000.
  EXPECT_EQ(octets.substr(16, 8), std::string("\0\0\0\x3F\0\0\x80\xBF", 8));
}

TEST(NativeEmbed, OctetsAreForThoseWhoPreferThem) {
  for (const char* accept :
       {"application/octet-stream", "Application/Octet-Stream", "application/octet-stream, */*",
        "application/octet-stream, application/json", "application/json;q=0.5, application/octet-stream",
        "text/html, application/octet-stream; q=0.3"}) {
    EXPECT_TRUE(prefers_octets(accept)) << accept;
  }
  for (const char* accept :
       {"", "*/*", "application/json", "application/*", "application/json, application/octet-stream",
        "application/octet-stream;q=0", "application/octet-stream;q=0.2, application/json;q=0.9",
        "application/octet-stream+x", ",,;"}) {
    EXPECT_FALSE(prefers_octets(accept)) << accept;
  }
}

TEST(KeepAlive, IsSecondsOrADuration) {
  EXPECT_EQ(keep_alive("300"), 300s);
  EXPECT_EQ(keep_alive("1.5"), 1500ms);
  EXPECT_EQ(keep_alive("0"), 0s);
  EXPECT_EQ(keep_alive("\"1h30m\""), 90min);
}

TEST(KeepAlive, BelowZeroAndBeyondAllBoundsIsForEver) {
  for (const char* value : {"-1", "-0.5", "\"-1\"", "\"-5m\"", "1e300", "-1e300", "\"2000000h\"", "9e9"})
    EXPECT_EQ(keep_alive(value), -1ns) << value;
  EXPECT_EQ(keep_alive("1e9"), 1000000000s);
}

TEST(KeepAlive, MayBeAbsent) {
  EXPECT_FALSE(read_keep_alive(body("{}")));
  EXPECT_FALSE(keep_alive("null"));
}

TEST(KeepAlive, RefusesWhatIsNoTimeSpan) {
  for (const char* value : {"\"soon\"", "\"\"", "\"9999999999h\""}) {
    try {
      keep_alive(value);
      ADD_FAILURE() << value;
    } catch (const RequestError& error) {
      EXPECT_EQ(error.problem().kind, Problem::Kind::invalid);
      EXPECT_EQ(error.problem().parameter, "keep_alive");
    }
  }
}

TEST(NativeModels, LeaveOutWhatIsNotKnown) {
  ModelListing known;
  known.name = "owner/known";
  known.tasks = {pipelines::Task::embed};
  known.architecture = "bert";
  known.dimensions = 384;
  known.max_length = 512;
  known.dtype = "F32";
  known.parameters = 22713216;
  known.bytes = 90868376;
  known.digest = "sha256:00ff";
  known.modified = std::chrono::system_clock::time_point(std::chrono::seconds(1700000000));
  ModelListing unknown;
  unknown.name = "broken";
  unknown.digest = "sha256:11";
  const ModelListing listed[] = {known, unknown};
  EXPECT_EQ(
      formats::to_json_text(native_model_list(listed, {})),
      R"({"models":[{"name":"owner/known","type":"embedder","tasks":["embed"],"architecture":"bert","dimensions":384,)"
      R"("max_length":512,"dtype":"F32","parameters":22713216,"size":90868376,)"
      R"("modified_at":"2023-11-14T22:13:20.000Z","digest":"sha256:00ff","loaded":false},)"
      R"({"name":"broken","size":0,"modified_at":"1970-01-01T00:00:00.000Z","digest":"sha256:11",)"
      R"("loaded":false}],"embedders":["owner/known"],"rerankers":[],"classifiers":[],"recognizers":[],"answerers":[],"fillers":[],"extractors":[],"generators":[]})");
}

class NativeRoutes : public RouteTest {
 protected:
  NativeRoutes() { add("acme/mean"); }
  Response embed(std::string body, Headers headers = {}) {
    return call(native_routes(), Method::post, "/api/embed", std::move(body), std::move(headers));
  }
  Embeddings library(const std::vector<std::string>& texts, const EmbedOptions& options = {}) const {
    return EmbeddingPipeline::load(settings.models_dir / "acme/mean").embed(texts, options);
  }
  static std::string rows_text(const Embeddings& embeddings) {
    const auto values = embeddings.vectors.values<float>();
    const auto width = static_cast<std::size_t>(embeddings.vectors.extent(1));
    std::string out = "[";
    for (std::size_t i = 0; i < values.size(); i += width) {
      if (i > 0) out += ',';
      append_vector(out, values.subspan(i, width));
    }
    return out + "]";
  }
};

TEST_F(NativeRoutes, EmbedGivesTheLibrarysVectors) {
  const Response response = embed(R"({"model": "acme/mean", "input": ["the cat", "a dog sat"]})");
  ASSERT_EQ(response.status, 200) << response.body;
  const Embeddings wanted = library({"the cat", "a dog sat"});
  EXPECT_NE(response.body.find("\"embeddings\":" + rows_text(wanted)), std::string::npos) << response.body;
  EXPECT_EQ(text(json(response), "model"), R"("acme/mean")");
  EXPECT_EQ(text(json(response), "prompt_eval_count"), std::to_string(wanted.tokens));
  EXPECT_EQ(text(json(response), "truncated"), "absent");
  EXPECT_NE(header(response, "X-Model-Fingerprint"), "");
}

TEST_F(NativeRoutes, EmbedTakesOneTextAndTheDefaultModel) {
  const Response response = embed(R"({"input": "the cat"})");
  ASSERT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(text(json(response), "model"), R"("acme/mean")");
  EXPECT_NE(response.body.find(rows_text(library({"the cat"}))), std::string::npos);
}

TEST_F(NativeRoutes, EmbedPassesItsOptionsOn) {
  EmbedOptions options;
  options.dimensions = 4;
  options.normalize = true;
  options.prompt = "the ";
  const Response response =
      embed(R"({"input": "cat", "dimensions": 4, "normalize": true, "prompt": "the ", "options": {"seed": 1}})");
  ASSERT_EQ(response.status, 200) << response.body;
  EXPECT_NE(response.body.find(rows_text(library({"cat"}, options))), std::string::npos) << response.body;
}

TEST_F(NativeRoutes, EmbedTakesNullForWhatIsAbsent) {
  const Response response = embed(R"({"input": "cat", "truncate": null, "dimensions": null,
                                      "normalize": null, "prompt_name": null, "prompt": null, "keep_alive": null})");
  EXPECT_EQ(response.status, 200) << response.body;
}

TEST_F(NativeRoutes, EmbedAnswersInOctetsWhereTheyArePreferred) {
  Headers headers;
  headers.add("Accept", "application/octet-stream");
  const Response response = embed(R"({"input": ["the cat", "a dog"]})", headers);
  ASSERT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(response.content_type, "application/octet-stream");
  const Embeddings wanted = library({"the cat", "a dog"});
  const auto values = wanted.vectors.values<float>();
  ASSERT_EQ(response.body.size(), 16 + values.size_bytes());
  EXPECT_EQ(std::memcmp(response.body.data() + 16, values.data(), values.size_bytes()), 0);
}

TEST_F(NativeRoutes, AnEmptyInputLoadsAndUnloadsTheModel) {
  EXPECT_TRUE(loaded().empty());
  const Response response = embed(R"({"model": "acme/mean", "input": []})");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(text(json(response), "embeddings"), "[]");
  EXPECT_EQ(loaded(), std::vector<std::string>{"acme/mean"});
  EXPECT_EQ(embed(R"({"model": "acme/mean", "input": [], "keep_alive": 0})").status, 200);
  // The request may still hold the model when its answer is there.
  while (!loaded().empty()) host().unload_idle();
}

TEST_F(NativeRoutes, AClientThatMayNotUnloadOnlyLengthensHowLongTheModelStays) {
  may_unload = false;
  for (const char* keep_alive : {"0", "\"0s\"", "0.001", "299"}) {
    const Response response =
        embed(R"({"model": "acme/mean", "input": "cat", "keep_alive": )" + std::string(keep_alive) + "}");
    EXPECT_EQ(response.status, 200) << response.body;
    EXPECT_NE(header(response, "X-Keep-Alive-Ignored"), "") << keep_alive;
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  host().unload_idle();
  EXPECT_EQ(loaded(), std::vector<std::string>{"acme/mean"});
  for (const char* keep_alive : {"\"5m\"", "600", "-1", "null"}) {
    const Response response =
        embed(R"({"model": "acme/mean", "input": "cat", "keep_alive": )" + std::string(keep_alive) + "}");
    EXPECT_EQ(header(response, "X-Keep-Alive-Ignored"), "") << keep_alive;
  }
  // Errors say so too; 600 seconds are now a shorter time.
  const Response refused = embed(R"({"model": "acme/mean", "input": "cat", "keep_alive": 600, "dimensions": 99999})");
  EXPECT_EQ(refused.status, 422);
  EXPECT_NE(header(refused, "X-Keep-Alive-Ignored"), "");
}

TEST_F(NativeRoutes, EmbedSaysWhatIsWrong) {
  const Response unknown = embed(R"({"model": "acme/none", "input": "cat"})");
  EXPECT_EQ(unknown.status, 404);
  EXPECT_EQ(text(json(unknown), "code"), R"("not_found")");
  EXPECT_EQ(unknown.body.find(folder.path().string()), std::string::npos);
  EXPECT_EQ(embed(R"({"model": "../mean", "input": "cat"})").status, 404);
  EXPECT_EQ(embed(R"({"input": "cat", "dimensions": 99999})").status, 422);
  EXPECT_EQ(embed(R"({"input": "cat", "keep_alive": "soon"})").status, 400);
}

TEST_F(NativeRoutes, ModelsSayWhichAreLoaded) {
  add("acme/other");
  embed(R"({"model": "acme/other", "input": []})");
  const formats::Json answer = json(call(native_routes(), Method::get, "/ai/v1/models"));
  EXPECT_EQ(text(answer, "embedders"), R"(["acme/mean","acme/other"])");
  const auto& models = answer.find("models")->as_array("models");
  ASSERT_EQ(models.size(), 2U);
  EXPECT_EQ(text(models[0], "loaded"), "false");
  EXPECT_EQ(text(models[0], "backend"), "absent");
  EXPECT_EQ(text(models[1], "loaded"), "true");
  EXPECT_EQ(text(models[1], "backend"), R"("cpu")");
}

TEST_F(NativeRoutes, TellTheVersion) {
  EXPECT_EQ(call(native_routes(), Method::get, "/api/version").body, R"({"version":"1.2.3"})");
}

}  // namespace
}  // namespace alate::server
