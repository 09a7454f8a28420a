// Models with a Router whose routes have transformers of their own; module_chains_test.cpp compares their embeddings
// with sentence-transformers'.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "alate/chunk.h"
#include "alate/embedding.h"
#include "alate/memory.h"
#include "base/files/mapped_file.h"
#include "formats/json.h"
#include "pipelines/check_loadable.h"
#include "pipelines/embed/embedding_rows.h"
#include "pipelines/task_pipelines.h"
#include "runtime/loading/model_files.h"
#include "tests/golden/golden_folder.h"
#include "tests/golden/tiny_kinds.h"
#include "tests/golden/tiny_weights.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"
#include "tests/unit/pipelines/embedding_calls.h"

namespace alate {
namespace {

namespace fs = std::filesystem;

class RouterOfTransformers : public testing::Test {
 protected:
  RouterOfTransformers() { write("router_of_transformers"); }

  void write(const std::string& recorded) {
    fs::remove_all(model_);
    tests::write_tiny_model(tests::golden_folder("modules/" + recorded), model_);
  }
  EmbeddingPipeline load() const { return EmbeddingPipeline::load(model_); }
  // Replaces a text in a file of the model.
  void edit(const std::string& file, const std::string& from, const std::string& to) const {
    std::string text = base::read_text_file(model_ / file);
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << file;
    folder_.write("model/" + file, text.replace(at, from.size(), to));
  }
  Error refusal() const {
    return base::error_of([&] { (void)load(); });
  }

  base::TemporaryFolder folder_;
  const fs::path model_ = folder_.path() / "model";
};

TEST_F(RouterOfTransformers, TheFirstIsTheDefaultRoutes) {
  const auto folders = runtime::transformer_folders(model_);
  ASSERT_EQ(folders.size(), 3U);
  EXPECT_EQ(folders[0], model_ / "document_0_Transformer");
  EXPECT_EQ(load().facts().hidden_size, 16U);
  EXPECT_EQ(load().dimensions(), 6U);
  edit("router_config.json", R"("default_route": "document")", R"("default_route": "query")");
  EXPECT_EQ(runtime::transformer_folders(model_).front(), model_ / "query_0_Transformer");
  EXPECT_EQ(load().facts().hidden_size, 8U);
}

TEST_F(RouterOfTransformers, TheFirstIsThatOfTextsWithoutATask) {
  edit("router_config.json", R"("route_mappings": {})", R"-("route_mappings": {"(None, 'text')": "title"})-");
  EXPECT_EQ(runtime::transformer_folders(model_).front(), model_ / "title_0_Transformer");
  const EmbeddingPipeline pipeline = load();
  EXPECT_EQ(&pipelines::pipeline_for(pipeline, {}), &pipeline);
  EXPECT_EQ(pipeline.max_length(), 14U);
  write("router_of_transformers");
  // A route of the name of the texts' kind comes before the default one.
  edit("router_config.json", R"("title": [)", R"("text": [)");
  EXPECT_EQ(runtime::transformer_folders(model_).front(), model_ / "title_0_Transformer");
  EXPECT_EQ(load().max_length(), 14U);
}

TEST_F(RouterOfTransformers, TransformersThatRoutesShareAreLoadedOnce) {
  write("router_of_architectures");
  edit("router_config.json", R"("default_route": "title")", R"("default_route": "query")");
  const EmbeddingPipeline pipeline = load();
  EXPECT_EQ(pipeline.facts().architecture, "distilbert");
  EXPECT_EQ(pipeline.state().beside.size(), 2U);
  EXPECT_EQ(pipeline.state().others().size(), 1U);
  const std::size_t weights = pipelines::TaskPipelines::load(model_, {}).weight_bytes();
  EXPECT_EQ(weights, pipeline.state().main_entry_point()->facts().weight_bytes +
                         pipeline.state().others()[0].state().main_entry_point()->facts().weight_bytes);
}

TEST_F(RouterOfTransformers, FingerprintsAreOfAll) {
  const auto fingerprint = [&] { return to_string(pipelines::TaskPipelines::load(model_, {}).fingerprint()); };
  const auto first = [&] { return to_string(load().model().fingerprint()); };
  const std::string of_all = fingerprint(), of_first = first();
  EXPECT_EQ(fingerprint(), of_all);
  fs::copy_file(model_ / "title_0_Transformer/model.safetensors", model_ / "query_0_Transformer/model.safetensors",
                fs::copy_options::overwrite_existing);
  EXPECT_EQ(first(), of_first);
  EXPECT_NE(fingerprint(), of_all);
  write("router_first");
  EXPECT_EQ(fingerprint(), first()) << "of one transformer";
}

TEST_F(RouterOfTransformers, GraphsAreWrittenForEach) {
  const fs::path graphs = folder_.path() / "graphs";
  EXPECT_TRUE(EmbeddingPipeline::load(model_, {.load = {.dump_graphs = graphs}}).kinds().dense);
  EXPECT_TRUE(fs::exists(graphs / "00_input.txt"));
  EXPECT_TRUE(fs::exists(graphs / "query_0_Transformer/00_input.txt"));
  EXPECT_TRUE(fs::exists(graphs / "title_0_Transformer/00_input.txt"));
}

TEST_F(RouterOfTransformers, EachHasItsOwnTokenizerAndLength) {
  const EmbeddingPipeline pipeline = load();
  EXPECT_EQ(pipelines::embedding_row_limit(pipeline, {.task = "query"}), 9U);
  EXPECT_EQ(pipelines::embedding_row_limit(pipeline, {.task = "title"}), 14U);
  EXPECT_EQ(pipelines::embedding_row_limit(pipeline, {}), 40U);
  const std::string text = "the quick brown fox jumps over the lazy dog and runs";
  EXPECT_EQ(pipeline.embed(text, {.task = "query"}).truncated.size(), 1U);
  EXPECT_TRUE(pipeline.embed(text, {.task = "document"}).truncated.empty());
  const Error error =
      base::error_of([&] { (void)pipeline.embed(text, {.long_texts = LongTexts::error, .task = "query"}); });
  EXPECT_NE(error.message().find("more than the 9 tokens"), std::string::npos) << error.message();
  // Of token ids too.
  const auto rows = std::vector<std::vector<std::int32_t>>{{2, 5, 6, 3}};
  const Tensor query = pipeline.embed_tokens(rows, {.task = "query"}).vectors;
  const Tensor document = pipeline.embed_tokens(rows, {.task = "document"}).vectors;
  EXPECT_NE(query.values<float>()[0], document.values<float>()[0]);
}

TEST_F(RouterOfTransformers, WindowsAreOfTheRoute) {
  const EmbeddingPipeline pipeline = load();
  const std::string text = "the quick brown fox jumps over the lazy dog and runs away from the cat";
  const EmbedOptions windows{.long_texts = LongTexts::windows, .task = "query"};
  EXPECT_TRUE(pipeline.embed(text, windows).truncated.empty());
  double squares = 0;
  const Tensor vector = pipeline.embed(text, windows).vectors;
  for (const float value : vector.values<float>()) squares += double{value} * value;
  EXPECT_NEAR(squares, 1, 1e-5) << "the route normalizes";
}

TEST_F(RouterOfTransformers, MemoryCountsAll) {
  const ModelMemory all = estimate_model_memory(model_);
  const std::size_t loaded = pipelines::TaskPipelines::load(model_, {}).weight_bytes();
  EXPECT_EQ(pipelines::check_loadable(model_, {}).backend, "cpu");
  write("router_first");  // the same document's transformer alone
  const ModelMemory one = estimate_model_memory(model_);
  EXPECT_GT(all.mapped_weights + all.owned_weights, one.mapped_weights + one.owned_weights);
  EXPECT_GT(all.total(), one.total());
  EXPECT_GT(loaded, pipelines::TaskPipelines::load(model_, {}).weight_bytes());
}

TEST_F(RouterOfTransformers, OtherTypesAreForEach) {
  const EmbeddingPipeline exact = load();
  for (const ComputeType type : {ComputeType::int8, ComputeType::bfloat16, ComputeType::automatic}) {
    const EmbeddingPipeline rounded = EmbeddingPipeline::load(model_, {.load = {.dtype = type}});
    for (const char* task : {"query", "document", "title"}) {
      const Tensor a = exact.embed("the quick brown fox", {.task = task}).vectors;
      const Tensor b = rounded.embed("the quick brown fox", {.task = task}).vectors;
      double dot = 0, left = 0, right = 0;
      for (std::size_t i = 0; i < a.values<float>().size(); ++i) {
        dot += double{a.values<float>()[i]} * b.values<float>()[i];
        left += double{a.values<float>()[i]} * a.values<float>()[i];
        right += double{b.values<float>()[i]} * b.values<float>()[i];
      }
      EXPECT_GT(dot / std::sqrt(left * right), 0.98) << task;
    }
  }
}

TEST_F(RouterOfTransformers, WithoutADefaultRouteNeedsATask) {
  edit("router_config.json", R"("default_route": "document")", R"("default_route": null)");
  edit("router_config.json", R"("allow_empty_key": true)", R"("allow_empty_key": false)");
  const EmbeddingPipeline pipeline = EmbeddingPipeline::load(model_, {.load = {.dtype = ComputeType::automatic}});
  EXPECT_EQ(pipeline.dimensions(), 6U);
  EXPECT_EQ(pipeline.facts().hidden_size, 8U) << "the first route's";
  for (const char* task : {"", "other"}) {
    const Error error = base::error_of([&] { (void)pipeline.embed("a fox", {.task = task}); });
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_NE(error.message().find("it has query, document, title"), std::string::npos) << error.message();
  }
  EXPECT_EQ(pipeline.embed("a fox", {.task = "title"}).vectors.extent(1), 6);
}

TEST_F(RouterOfTransformers, OfOneTransformerWithoutADefaultRouteNeedsATaskToo) {
  write("router_without_default");
  const EmbeddingPipeline pipeline = load();
  EXPECT_EQ(pipeline.dimensions(), 7U);
  EXPECT_EQ(base::error_of([&] { (void)pipeline.embed("a fox"); }).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(pipelines::check_loadable(model_, {}).backend, "cpu");
  // What is cut into chunks is a document.
  EXPECT_FALSE(Chunker(pipeline).chunk("a fox. a dog.", {.method = ChunkMethod::semantic}).chunks.empty());
}

TEST_F(RouterOfTransformers, OfSparseModelsWithoutADefaultRouteNeedsATaskToo) {
  fs::remove_all(model_);
  tests::write_tiny_kinds(model_, "splade_poolings");
  edit("router_config.json", R"("default_route": "document")", R"("default_route": null)");
  edit("router_config.json", R"("allow_empty_key": true)", R"("allow_empty_key": false)");
  const EmbeddingPipeline pipeline = load();
  const std::vector<std::string> texts = {"a fox"};
  const auto sparse = EmbeddingKinds::only(EmbeddingKind::sparse);
  EXPECT_EQ(pipeline.embed_kinds(texts, sparse, {.task = "title"}).sparse.size(), 1U);
  for (const char* task : {"", "other"}) {
    const Error error = base::error_of([&] { (void)pipeline.embed_kinds(texts, sparse, {.task = task}); });
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_NE(error.message().find("it has query, document, title"), std::string::npos) << error.message();
  }
}

TEST_F(RouterOfTransformers, WhatItsRoutesDoNotShareIsRefused) {
  const Error late = base::error_of([&] { (void)Chunker(load()).chunk_late("a fox and a dog", {}, {}); });
  EXPECT_EQ(late.code(), ErrorCode::unsupported);
  EXPECT_TRUE(late.message().ends_with(": late chunking")) << late.message();
  // Vectors of different widths cannot be compared.
  edit("router_config.json", R"("query_2_Dense",)", "");
  const Error wider = refusal();
  EXPECT_EQ(wider.code(), ErrorCode::unsupported);
  EXPECT_TRUE(wider.message().ends_with(": Router")) << wider.message();
}

TEST_F(RouterOfTransformers, SparseVectorsOfOtherVocabulariesAreRefused) {
  const fs::path wider = folder_.path() / "wider";
  fs::copy(tests::golden_folder("kinds/splade_routes"), wider, fs::copy_options::recursive);
  const auto widen = [&](const std::string& name, const std::string& from, const std::string& to) {
    const std::string file = "wider/query_0_Transformer/" + name;
    std::string text = base::read_text_file(folder_.path() / file);
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos;) text.replace(at, from.size(), to);
    folder_.write(file, text);
  };
  widen("config.json", R"("vocab_size": 88)", R"("vocab_size": 89)");
  widen("shapes.json", "[88", "[89");
  fs::remove_all(model_);
  tests::write_tiny_model(wider, model_);
  const Error error = refusal();
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_NE(
      error.message().find("'document_0_Transformer' and 'query_0_Transformer' give vectors of 88 and 89 numbers"),
      std::string::npos)
      << error.message();
}

TEST_F(RouterOfTransformers, HostileFiles) {
  const std::string config = base::read_text_file(model_ / "router_config.json");
  const auto code_with = [&](const std::string& from, const std::string& to) {
    folder_.write("model/router_config.json", config);
    for (std::size_t i = 0; i < 2; ++i) edit("router_config.json", from, to);  // in types and in a route
    return refusal().code();
  };
  EXPECT_EQ(code_with("\"query_0_Transformer\"", "\"../outside\""), ErrorCode::corrupt);
  EXPECT_EQ(code_with("\"query_0_Transformer\"", "\"/etc\""), ErrorCode::corrupt);
  folder_.write("outside/config.json", "{}");
  fs::create_symlink(folder_.path() / "outside", model_ / "link");
  EXPECT_EQ(code_with("\"query_0_Transformer\"", "\"link\""), ErrorCode::corrupt);
  EXPECT_EQ(code_with("\"query_0_Transformer\"", "\"missing\""), ErrorCode::not_found);

  std::string types, structure;
  for (int i = 0; i < 65; ++i) {
    const std::string id = "\"t" + std::to_string(i) + "\"";
    types += (i > 0 ? "," : "") + id + ": \"a.Transformer\"";
    structure += (i > 0 ? "," : "") + id + ": [" + id + "]";
  }
  folder_.write("model/router_config.json", "{\"types\": {" + types + "}, \"structure\": {" + structure + "}}");
  EXPECT_EQ(refusal().code(), ErrorCode::corrupt);
}

}  // namespace
}  // namespace alate
