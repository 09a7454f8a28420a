// POST /api/search over an index of a tiny model.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alate/embedding.h"
#include "alate/rerank.h"
#include "alate/search.h"
#include "search/search_json.h"
#include "tests/golden/tiny_kinds.h"
#include "tests/golden/tiny_rerankers.h"
#include "tests/unit/server/route_testing.h"

namespace alate::server {
namespace {

namespace fs = std::filesystem;
using formats::Json;

class SearchRoutes : public RouteTest {
 protected:
  SearchRoutes() {
    add("tiny/embedder");
    add("tiny/other", "st_max");
    tests::write_tiny_reranker(settings.models_dir / "tiny/reranker");
    texts_.write("a.txt", "The cat sat on the mat.\n\nThe quick brown fox jumped.\n");
    texts_.write("sub/b.txt", "A fox, a fox: 1 2 3!\n");
    build("tiny/embedder");
    settings.indexes = {{"notes", (folder.path() / "notes").string()}, {"nothing", (folder.path() / "none").string()}};
  }

  void build(const std::string& recorded_model, Precision precision = Precision::float32) const {
    const auto pipeline = EmbeddingPipeline::load(settings.models_dir / "tiny/embedder");
    build_index(pipeline, {texts_.path()}, folder.path() / "notes",
                {.chunk = {.target_tokens = 8, .overlap_tokens = 0}, .model = recorded_model, .precision = precision});
  }
  Response post(const std::string& members, std::string_view path = "/api/search") {
    return call(native_routes(), Method::post, path, "{" + members + "}");
  }
  std::vector<SearchResult> library(std::string_view question, std::size_t top, bool reranks = false) const {
    std::optional<RerankPipeline> reranker;
    if (reranks) reranker = RerankPipeline::load(settings.models_dir / "tiny/reranker");
    return SearchIndex::open(folder.path() / "notes")
        .search(EmbeddingPipeline::load(settings.models_dir / "tiny/embedder"), question, {.top = top}, reranker);
  }
  // The results of an answer are the library's, but for the names of files, and fit the documented schema.
  void expect_results(const Response& response, std::vector<SearchResult> wanted) const {
    ASSERT_EQ(response.status, 200) << response.body;
    const std::string folder_of_texts = texts_.path().generic_string() + "/";
    for (SearchResult& result : wanted) {
      ASSERT_TRUE(result.file.starts_with(folder_of_texts));
      result.file.erase(0, folder_of_texts.size());
    }
    EXPECT_EQ(text(json(response), "results"),
              text(formats::parse_json(search::results_json(wanted), "wanted"), "results"));
    EXPECT_NE(header(response, "X-Model-Fingerprint"), "");
    for (const Route& route : native_routes()) {
      if (route.path != "/api/search") continue;
      const auto violation = Schema::parse(route.answers.front().schema).check(json(response));
      EXPECT_FALSE(violation) << violation->message;
    }
  }
  // What the check of the body says of it; nothing for one that it takes.
  static std::optional<std::string> violation(const std::string& members) {
    for (const Route& route : native_routes()) {
      if (route.path != "/api/search") continue;
      const auto found = Schema::parse(route.body).check(formats::parse_json("{" + members + "}", "body"));
      return found ? std::optional(found->message) : std::nullopt;
    }
    return "no route";
  }

  base::TemporaryFolder texts_;
};

TEST_F(SearchRoutes, AnswersAsTheLibraryDoesWithoutTheFoldersOfTheServer) {
  for (const char* path : {"/api/search", "/ai/v1/search"}) {
    const Response response = post(R"("index":"notes","query":"the quick fox","top_k":2)", path);
    expect_results(response, library("the quick fox", 2));
    EXPECT_EQ(response.body.find(texts_.path().string()), std::string::npos);
    EXPECT_EQ(text(json(response), "model"), R"("tiny/embedder")");
  }
  expect_results(post(R"("index":"notes","query":"fox")"), library("fox", 10));  // top_k
}

TEST_F(SearchRoutes, ARerankerOrdersThePassages) {
  const Response response = post(R"("index":"notes","query":"the quick fox","top_k":2,"rerank_model":"tiny/reranker")");
  expect_results(response, library("the quick fox", 2, true));
  EXPECT_EQ(text(json(response), "model"), R"("tiny/embedder")");
  EXPECT_EQ(text(json(response), "rerank_model"), R"("tiny/reranker")");
  const auto fingerprint = [&](std::string_view name) {
    return to_string(acquire(name).model()->pipelines.fingerprint());
  };
  EXPECT_EQ(header(response, "X-Model-Fingerprint"), fingerprint("tiny/embedder"));
  EXPECT_EQ(header(response, "X-Rerank-Model-Fingerprint"), fingerprint("tiny/reranker"));
  const Response plain = post(R"("index":"notes","query":"fox","model":"embedder")");
  EXPECT_EQ(text(json(plain), "model"), R"("embedder")");  // as the request names it
  EXPECT_EQ(text(json(plain), "rerank_model"), "absent");
  EXPECT_EQ(header(plain, "X-Model-Fingerprint"), fingerprint("tiny/embedder"));
}

TEST_F(SearchRoutes, AModelThatDoesNotFitIsRefused) {
  const Response response = post(R"("index":"notes","query":"fox","model":"tiny/other")");
  EXPECT_EQ(response.status, 422) << response.body;
  EXPECT_NE(response.body.find("another model"), std::string::npos);
  EXPECT_EQ(post(R"("index":"notes","query":"fox","model":"tiny/reranker")").status, 422);
  EXPECT_EQ(post(R"("index":"notes","query":"fox","rerank_model":"tiny/embedder")").status, 422);
  // After a refusal, the model that fits is taken.
  EXPECT_EQ(post(R"("index":"notes","query":"fox")").status, 200);
  EXPECT_EQ(post(R"("index":"notes","query":"fox","model":"tiny/other")").status, 422);
}

TEST_F(SearchRoutes, AnIndexOfAFolderNeedsTheModelsNameHere) {
  build("/home/somebody/models/embedder");
  const Response response = post(R"("index":"notes","query":"fox")");
  EXPECT_EQ(response.status, 422) << response.body;
  EXPECT_EQ(response.body.find("somebody"), std::string::npos) << response.body;
  EXPECT_EQ(post(R"("index":"notes","query":"fox","model":"tiny/embedder")").status, 200);
}

TEST_F(SearchRoutes, UnknownIndexesTellNoPaths) {
  for (const std::string name : {"other", "nothing", "../notes", "/etc", "", "notes/", "notes\\u0000", "NOTES"}) {
    const Response response = post(R"("index":")" + name + R"(","query":"fox")");
    EXPECT_EQ(response.status, 404) << name << response.body;
    EXPECT_EQ(response.body.find(folder.path().string()), std::string::npos) << response.body;
    EXPECT_EQ(response.body.find("safetensors"), std::string::npos) << response.body;
  }
}

TEST_F(SearchRoutes, ModelsAreNamesAndNeverPaths) {
  const std::string path = (settings.models_dir / "tiny/embedder").string();
  for (const std::string member : {"model", "rerank_model"}) {
    for (const std::string& name : {path, std::string("../tiny/embedder"), std::string("none")}) {
      const Response response = post(R"("index":"notes","query":"fox",")" + member + R"(":")" + name + "\"");
      EXPECT_GE(response.status, 400) << name;
      EXPECT_LT(response.status, 500) << name << response.body;
    }
  }
}

TEST_F(SearchRoutes, BodiesThatCannotBeAreRefused) {
  const std::string fits = R"("index":"notes","query":"fox")";
  EXPECT_FALSE(violation(fits));
  EXPECT_FALSE(violation(fits + R"(,"top_k":1000)"));
  for (const char* top : {"0", "-1", "1001", "1e99", "1.5", "\"3\"", "[3]", "99999999999999999999"})
    EXPECT_TRUE(violation(fits + ",\"top_k\":" + top)) << top;
  EXPECT_TRUE(violation(R"("query":"fox")"));
  EXPECT_TRUE(violation(R"("index":"notes")"));
  EXPECT_TRUE(violation(R"("index":["notes"],"query":"fox")"));
  EXPECT_TRUE(violation(R"("index":"notes","query":["fox"])"));
  EXPECT_TRUE(violation(R"("index":"notes","query":"")"));
  EXPECT_TRUE(violation(R"("index":"notes","query":")" + std::string(65537, 'a') + "\""));
  EXPECT_TRUE(violation(R"("index":")" + std::string(65, 'a') + R"(","query":"a")"));
  EXPECT_TRUE(violation(fits + R"(,"rerank_model":3)"));
}

TEST_F(SearchRoutes, ALongQuestionIsCut) {
  const Response response = post(R"("index":"notes","top_k":1,"query":")" + std::string(65536, 'a') + "\"");
  ASSERT_EQ(response.status, 200) << response.body;
  std::string words;
  for (int i = 0; i < 8000; ++i) words += "the fox ";
  const Response cut = post(R"("index":"notes","top_k":1,"query":")" + words + "\"");
  ASSERT_EQ(cut.status, 200) << cut.body;
  EXPECT_EQ(text(json(cut), "truncated"), "[0]");
}

TEST_F(SearchRoutes, AnIndexWithSparseVectorsIsSearchedInEveryMode) {
  tests::write_tiny_kinds(settings.models_dir / "tiny/m3", "m3");
  const auto pipeline = EmbeddingPipeline::load(settings.models_dir / "tiny/m3");
  const fs::path out = folder.path() / "both";
  build_index(pipeline, {texts_.path()}, out, {.model = "tiny/m3"});
  settings.indexes["both"] = out.string();
  for (const std::string name : {"", "dense", "sparse", "hybrid"}) {
    const std::string mode = name.empty() ? "" : R"(,"mode":")" + name + "\"";
    const std::vector<SearchResult> wanted =
        SearchIndex::open(out).search(pipeline, "the fox", {.mode = parse_search_mode(name), .top = 3});
    expect_results(post(R"("index":"both","query":"the fox","top_k":3)" + mode), wanted);
  }
  EXPECT_EQ(post(R"("index":"notes","query":"the fox","mode":"sparse")").status, 422);
  EXPECT_TRUE(violation(R"("index":"notes","query":"a","mode":"all")"));
}

TEST_F(SearchRoutes, AReplacedIndexIsOpenedAgain) {
  EXPECT_EQ(post(R"("index":"notes","query":"fox")").status, 200);
  const auto open = indexes().open("notes");
  EXPECT_EQ(indexes().open("notes"), open);  // mapped once
  texts_.write("c.txt", "A third file about the fox.");
  build("tiny/embedder", Precision::int8);
  EXPECT_NE(indexes().open("notes"), open);
  expect_results(post(R"("index":"notes","query":"fox","top_k":9)"), library("fox", 9));
  EXPECT_LT(open->file().size(), indexes().open("notes")->file().size());  // who has the old one still reads it
  fs::remove(folder.path() / "notes" / "index.safetensors");
  EXPECT_EQ(post(R"("index":"notes","query":"fox")").status, 404);
}

TEST_F(SearchRoutes, ABrokenIndexIsAnErrorOfTheServerWithoutPaths) {
  base::TemporaryFolder broken;
  broken.write("index.safetensors", "no index");
  settings.indexes["broken"] = broken.path().string();
  const Response response = post(R"("index":"broken","query":"fox")");
  EXPECT_EQ(response.status, 500);
  EXPECT_EQ(response.body.find(broken.path().string()), std::string::npos) << response.body;
}

TEST(NamesWithoutFolders, KeepWhatTheIndexNames) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(names_without_folders({"/srv/docs/a.txt", "/srv/docs/sub/b.md"}), (Names{"a.txt", "sub/b.md"}));
  EXPECT_EQ(names_without_folders({"/srv/docs/a.txt"}), (Names{"a.txt"}));
  EXPECT_EQ(names_without_folders({"/srv/docs1/a.txt", "/srv/docs2/a.txt"}), (Names{"docs1/a.txt", "docs2/a.txt"}));
  EXPECT_EQ(names_without_folders({"notes/a.txt", "../../b.txt", "/x/c.txt"}),
            (Names{"notes/a.txt", "b.txt", "c.txt"}));
  EXPECT_EQ(names_without_folders({"/a", "/ab"}), (Names{"a", "ab"}));
  EXPECT_EQ(names_without_folders({}), Names{});
}

}  // namespace
}  // namespace alate::server
