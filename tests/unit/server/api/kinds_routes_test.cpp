// The routes that give sparse and multi-vector embeddings, over the models that record_kinds.py recorded.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/embedding.h"
#include "alate/embedding_precision.h"
#include "formats/json.h"
#include "tests/golden/golden_folder.h"
#include "tests/golden/tiny_kinds.h"
#include "tests/golden/tiny_weights.h"
#include "tests/unit/server/route_testing.h"

namespace alate::server {
namespace {

using formats::Json;

std::vector<Route> all_routes() {
  std::vector<Route> routes = native_routes();
  std::ranges::move(tei_routes(), std::back_inserter(routes));
  std::ranges::move(openai_routes(), std::back_inserter(routes));
  std::ranges::move(jina_routes(), std::back_inserter(routes));
  return routes;
}

class KindsRoutes : public RouteTest {
 protected:
  KindsRoutes() {
    tests::write_tiny_kinds(settings.models_dir / "tiny/m3", "m3");
    tests::write_tiny_kinds(settings.models_dir / "tiny/splade", "splade_max");
    settings.default_model = "tiny/m3";
    Json::Array texts;
    for (const std::string& text : recorded_.texts) texts.emplace_back(text);
    texts_ = formats::to_json_text(Json(texts));
  }

  Response post(std::string_view path, const std::string& members) {
    return call(all_routes(), Method::post, path, "{" + members + "}");
  }
  KindEmbeddings library(const std::string& model, const EmbeddingKinds& kinds, const EmbedOptions& options = {}) {
    return EmbeddingPipeline::load(settings.models_dir / model).embed_kinds(recorded_.texts, kinds, options);
  }
  static void expect_documented(std::string_view path, const Json& body) {
    const std::vector<Route> routes = all_routes();
    const auto route = std::ranges::find(routes, path, &Route::path);
    ASSERT_NE(route, routes.end());
    const auto violation = Schema::parse(route->answers.front().schema).check(body);
    EXPECT_FALSE(violation) << violation->message;
  }
  static std::vector<float> numbers_of(const Json& list) {
    std::vector<float> numbers;
    for (const Json& number : list.as_array("numbers"))
      numbers.push_back(static_cast<float>(number.as_double("number")));
    return numbers;
  }
  static void expect_sparse(const Json& found, const SparseEmbedding& wanted) {
    std::vector<std::int32_t> indices;
    for (const Json& index : found.find("indices")->as_array("indices"))
      indices.push_back(static_cast<std::int32_t>(index.as_int("index")));
    EXPECT_EQ(indices, wanted.indices);
    EXPECT_EQ(numbers_of(*found.find("values")), wanted.values);
  }

  const tests::RecordedKinds recorded_ = tests::read_kinds("m3", "texts");
  std::string texts_;
};

TEST_F(KindsRoutes, NativeGivesAListForEachKindThatIsAskedFor) {
  const Response answer = post("/api/embed", R"("kinds":["dense","sparse","multi-vector"],"input":)" + texts_);
  ASSERT_EQ(answer.status, 200) << answer.body;
  const Json body = formats::parse_json(answer.body, "answer");
  expect_documented("/api/embed", body);
  const KindEmbeddings wanted = library("tiny/m3", {.dense = true, .sparse = true, .multi_vector = true});
  const Json::Array& dense = body.find("embeddings")->as_array("embeddings");
  const Json::Array& sparse = body.find("sparse_embeddings")->as_array("sparse_embeddings");
  const Json::Array& vectors = body.find("multi_vectors")->as_array("multi_vectors");
  ASSERT_EQ(dense.size(), recorded_.texts.size());
  ASSERT_EQ(sparse.size(), recorded_.texts.size());
  ASSERT_EQ(vectors.size(), recorded_.texts.size());
  for (std::size_t i = 0; i < dense.size(); ++i) {
    const std::span<const float> row = wanted.dense.values<float>().subspan(i * 16, 16);
    EXPECT_TRUE(std::ranges::equal(numbers_of(dense[i]), row)) << i;
    expect_sparse(sparse[i], wanted.sparse[i]);
    std::vector<float> all;
    for (const Json& vector : vectors[i].as_array("vectors"))
      std::ranges::copy(numbers_of(vector), std::back_inserter(all));
    EXPECT_TRUE(std::ranges::equal(all, wanted.multi_vectors[i].values<float>())) << i;
  }
  EXPECT_EQ(body.find("truncated")->as_array("truncated").size(), recorded_.embeddings.truncated.size());
}

TEST_F(KindsRoutes, NativeLeavesOutKindsThatAreNot) {
  const Json body = formats::parse_json(
      post("/api/embed", R"("kinds":["sparse"],"sparse_top_k":2,"input":)" + texts_).body, "answer");
  EXPECT_TRUE(body.find("embeddings")->as_array("embeddings").empty());
  EXPECT_EQ(body.find("multi_vectors"), nullptr);
  const KindEmbeddings wanted = library("tiny/m3", {.sparse = true}, {.sparse_top_k = 2});
  const Json::Array& sparse = body.find("sparse_embeddings")->as_array("sparse_embeddings");
  for (std::size_t i = 0; i < sparse.size(); ++i) expect_sparse(sparse[i], wanted.sparse[i]);
  const Json dense = formats::parse_json(post("/api/embed", R"("input":"fox")").body, "answer");
  EXPECT_EQ(dense.find("embeddings")->as_array("embeddings").size(), 1U);
  EXPECT_EQ(dense.find("sparse_embeddings"), nullptr);
}

TEST_F(KindsRoutes, TeiGivesTheWeightsOfEachText) {
  for (const std::string path : {"/embed_sparse", "/models/tiny/splade/embed_sparse"}) {
    const Response answer = post(path, R"("inputs":)" + texts_);
    ASSERT_EQ(answer.status, 200) << answer.body;
    const Json body = formats::parse_json(answer.body, "answer");
    expect_documented("/embed_sparse", body);
    const KindEmbeddings wanted =
        library(path.starts_with("/models") ? "tiny/splade" : "tiny/m3", EmbeddingKinds::only(EmbeddingKind::sparse));
    const Json::Array& texts = body.as_array("texts");
    ASSERT_EQ(texts.size(), wanted.sparse.size());
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const Json::Array& weights = texts[i].as_array("weights");
      ASSERT_EQ(weights.size(), wanted.sparse[i].indices.size());
      for (std::size_t j = 0; j < weights.size(); ++j) {
        EXPECT_EQ(weights[j].get_int("index", -1), wanted.sparse[i].indices[j]);
        EXPECT_EQ(static_cast<float>(weights[j].get_double("value", 0)), wanted.sparse[i].values[j]);
      }
    }
  }
}

TEST_F(KindsRoutes, QueriesAreOtherTextsThanDocuments) {
  tests::write_tiny_kinds(settings.models_dir / "tiny/colbert", "colbert_pylate");
  for (const std::string task : {"query", "document"}) {
    const tests::RecordedKinds recorded = tests::read_kinds("colbert_pylate", task);
    const Response answer = post(
        "/api/embed", R"("model":"tiny/colbert","kinds":["multi-vector"],"task":")" + task + R"(","input":)" + texts_);
    ASSERT_EQ(answer.status, 200) << answer.body;
    const Json body = formats::parse_json(answer.body, "answer");
    const Json::Array& texts = body.find("multi_vectors")->as_array("multi_vectors");
    for (std::size_t i = 0; i < recorded.texts.size(); ++i)
      EXPECT_EQ(texts[i].as_array("vectors").size(),
                static_cast<std::size_t>(recorded.embeddings.multi_vectors[i].extent(0)))
          << task << i;
  }
}

TEST_F(KindsRoutes, NumbersOfEveryPrecisionAreTheLibrarys) {
  const Tensor vectors = library("tiny/m3", EmbeddingKinds::only(EmbeddingKind::dense)).dense;
  for (const Precision precision : {Precision::int8, Precision::uint8, Precision::binary, Precision::ubinary}) {
    const std::string name(to_string(precision));
    const Tensor wanted = quantize_embeddings(vectors, precision);
    std::vector<float> numbers;
    for (const std::byte byte : wanted.bytes())
      numbers.push_back(wanted.dtype() == DType::i8 ? static_cast<float>(static_cast<std::int8_t>(byte))
                                                    : static_cast<float>(std::to_integer<int>(byte)));
    const auto expect_wanted = [&](std::string_view path, const std::string& members, auto rows_of) {
      const Response answer = post(path, members + R"(,"input":)" + texts_);
      ASSERT_EQ(answer.status, 200) << answer.body;
      const Json body = formats::parse_json(answer.body, "answer");
      expect_documented(path, body);
      EXPECT_EQ(rows_of(body), numbers) << path << " " << name;
    };
    expect_wanted("/api/embed", R"("precision":")" + name + '"', [](const Json& body) {
      std::vector<float> all;
      for (const Json& row : body.find("embeddings")->as_array("embeddings"))
        std::ranges::copy(numbers_of(row), std::back_inserter(all));
      return all;
    });
    expect_wanted("/v1/embeddings", R"("embedding_type":")" + name + R"(","encoding_format":"base64")",
                  [](const Json& body) {
                    std::vector<float> all;
                    for (const Json& row : body.find("data")->as_array("data"))
                      std::ranges::copy(numbers_of(*row.find("embedding")), std::back_inserter(all));
                    return all;
                  });
  }
}

TEST_F(KindsRoutes, PrecisionIsForDenseVectorsInJson) {
  EXPECT_EQ(post("/api/embed", R"("input":"a","kinds":["sparse"],"precision":"int8")").status, 422);
  EXPECT_EQ(post("/api/embed", R"("input":"a","kinds":["sparse","dense"],"precision":"int8")").status, 200);
  Headers headers;
  headers.add("Accept", "application/octet-stream");
  const auto status = [&](std::string_view members) {
    return call(all_routes(), Method::post, "/api/embed", "{" + std::string(members) + "}", headers).status;
  };
  EXPECT_EQ(status(R"("input":"a","precision":"float32")"), 200);
  EXPECT_EQ(status(R"("input":"a","precision":"int8")"), 422);
}

TEST_F(KindsRoutes, JinaGivesTheVectorsOfTokens) {
  tests::write_tiny_kinds(settings.models_dir / "tiny/colbert", "colbert_pylate");
  const std::string path = "/v1/multi-vector";
  for (const std::string task : {"query", "document"}) {
    const std::vector<Tensor> wanted =
        library("tiny/colbert", EmbeddingKinds::only(EmbeddingKind::multi_vector), {.task = task}).multi_vectors;
    for (const std::string type : {"float", "ubinary"}) {
      const Response answer = post(path, R"("model":"tiny/colbert","dimensions":12,"input_type":")" + task +
                                             R"(","embedding_type":")" + type + R"(","input":)" + texts_);
      ASSERT_EQ(answer.status, 200) << answer.body;
      const Json body = formats::parse_json(answer.body, "answer");
      expect_documented(path, body);
      const Json::Array& texts = body.find("data")->as_array("data");
      ASSERT_EQ(texts.size(), wanted.size());
      for (std::size_t i = 0; i < texts.size(); ++i) {
        std::vector<float> all, numbers;
        for (const Json& vector : texts[i].find("embeddings")->as_array("embeddings"))
          std::ranges::copy(numbers_of(vector), std::back_inserter(all));
        if (type == "float") {
          std::ranges::copy(wanted[i].values<float>(), std::back_inserter(numbers));
        } else {
          const Tensor bits = quantize_embeddings(wanted[i], Precision::ubinary);
          for (const std::byte byte : bits.bytes()) numbers.push_back(static_cast<float>(std::to_integer<int>(byte)));
        }
        EXPECT_EQ(all, numbers) << task << i;
      }
    }
  }
  EXPECT_NE(post(path, R"("model":"tiny/colbert","input":"a")").body.find(R"("index":0,"embeddings":[[)"),
            std::string::npos);
  const Response narrower = post(path, R"("model":"tiny/colbert","input":"a","dimensions":6)");
  EXPECT_EQ(narrower.status, 400);
  EXPECT_NE(narrower.body.find(R"({"message":"dimensions is 6)"), std::string::npos) << narrower.body;
  EXPECT_EQ(post(path, R"("model":"tiny/splade","input":"a")").status, 400);
}

TEST_F(KindsRoutes, OtherKindsThanTheModelsAreRefused) {
  for (const auto& [path, members] : {
           std::pair("/api/embed", R"("model":"tiny/splade","input":"a","kinds":["dense"])"),
           std::pair("/api/embed", R"("model":"tiny/splade","input":"a")"),
           std::pair("/api/embed", R"("model":"tiny/splade","input":"a","kinds":["sparse","multi-vector"])"),
           std::pair("/models/tiny/splade/embed", R"("inputs":"a")"),
       }) {
    const Response answer = post(path, members);
    EXPECT_EQ(answer.status, 422) << path << members;
    EXPECT_NE(answer.body.find("gives sparse embeddings"), std::string::npos) << answer.body;
  }
}

TEST_F(KindsRoutes, OctetsHaveAPlaceForDenseVectorsOnly) {
  const auto status = [&](std::string_view members) {
    Headers headers;
    headers.add("Accept", "application/octet-stream");
    return call(all_routes(), Method::post, "/api/embed", "{" + std::string(members) + "}", headers).status;
  };
  EXPECT_EQ(status(R"("input":"a")"), 200);
  EXPECT_EQ(status(R"("input":"a","kinds":["dense","sparse"])"), 422);
}

TEST(KindsSchema, RefusesWhatIsNoKind) {
  const std::vector<Route> routes = native_routes();
  const auto takes = [&](std::string_view members) {
    const auto route = std::ranges::find(routes, "embed", &Route::id);
    return !Schema::parse(route->body)
                .check(formats::parse_json("{\"input\":\"a\"," + std::string(members) + "}", "body"));
  };
  EXPECT_TRUE(takes(R"("kinds":["sparse","dense"])"));
  EXPECT_FALSE(takes(R"("kinds":["spares"])"));
  EXPECT_FALSE(takes(R"("kinds":[])"));
  EXPECT_FALSE(takes(R"("kinds":"sparse")"));
  EXPECT_FALSE(takes(R"("sparse_top_k":0)"));
  EXPECT_TRUE(takes(R"("precision":"uint8")"));
  EXPECT_FALSE(takes(R"("precision":"float16")"));
}

TEST_F(KindsRoutes, InfoNamesTheWaysOfPooling) {
  tests::write_tiny_kinds(settings.models_dir / "tiny/codes", "autoencoder");
  for (const auto& [model, pooling] : {std::pair("splade", "splade"), {"codes", "mean"}, {"m3", "cls"}}) {
    const Response answer = call(all_routes(), Method::get, "/models/tiny/" + std::string(model) + "/info", "");
    const std::string wanted = R"({"embedding":{"pooling":")" + std::string(pooling) + R"("}})";
    EXPECT_NE(answer.body.find(wanted), std::string::npos) << answer.body;
  }
}

// Queries take weights from a table, documents from the encoder; both compile their own entry point.
TEST_F(KindsRoutes, TasksOfARouterTakeTheirOwnWay) {
  tests::write_tiny_kinds(settings.models_dir / "tiny/static", "static_queries");
  for (const std::string task : {"query", "document"}) {
    const Response answer =
        post("/api/embed", R"("model":"tiny/static","kinds":["sparse"],"task":")" + task + R"(","input":)" + texts_);
    ASSERT_EQ(answer.status, 200) << answer.body;
    const Json body = formats::parse_json(answer.body, "answer");
    const Json::Array& sparse = body.find("sparse_embeddings")->as_array("sparse_embeddings");
    const KindEmbeddings wanted = library("tiny/static", EmbeddingKinds::only(EmbeddingKind::sparse), {.task = task});
    ASSERT_EQ(sparse.size(), wanted.sparse.size());
    for (std::size_t i = 0; i < sparse.size(); ++i) expect_sparse(sparse[i], wanted.sparse[i]);
  }
}

TEST_F(KindsRoutes, RoutesOfARouterMayHaveTransformersOfTheirOwn) {
  tests::write_tiny_model(tests::golden_folder("modules/router_of_transformers"), settings.models_dir / "tiny/routes");
  const std::string input = R"("input":["the quick brown fox jumps over the lazy dog and runs"])";
  const auto ask = [&](const std::string& task) {
    return post("/api/embed", R"("model":"tiny/routes","task":")" + task + R"(",)" + input);
  };
  for (const std::string task : {"query", "document", "title", ""}) {
    const Response answer = ask(task);
    ASSERT_EQ(answer.status, 200) << answer.body;
    const Json body = formats::parse_json(answer.body, "answer");
    const Json::Array& row = body.find("embeddings")->as_array("embeddings")[0].as_array("row");
    const EmbeddingPipeline pipeline = EmbeddingPipeline::load(settings.models_dir / "tiny/routes");
    const Tensor wanted =
        pipeline.embed("the quick brown fox jumps over the lazy dog and runs", {.task = task}).vectors;
    ASSERT_EQ(row.size(), wanted.values<float>().size());
    for (std::size_t i = 0; i < row.size(); ++i)
      EXPECT_NEAR(row[i].as_double("number"), wanted.values<float>()[i], 1e-5) << task;
  }
  const Response cut = post("/api/embed", R"("model":"tiny/routes","truncate":false,"task":"query",)" + input);
  EXPECT_EQ(cut.status, 422);
  EXPECT_NE(cut.body.find("more than the 9 tokens"), std::string::npos) << cut.body;
  EXPECT_EQ(ask("other").status, 422);
}

}  // namespace
}  // namespace alate::server
