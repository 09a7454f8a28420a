// Inverted lists: how they are made, joined and searched.
#include "search/sparse_lists.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "alate/embedding.h"
#include "alate/error.h"
#include "alate/search.h"
#include "base/threads/cancellation.h"
#include "formats/safetensors/safetensors.h"
#include "formats/safetensors/safetensors_writer.h"
#include "search/index_file.h"
#include "tests/golden/tiny_kinds.h"
#include "tests/source_folder.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::search {
namespace {

namespace fs = std::filesystem;

const base::Cancellation kNobodyLeaves = base::Cancellation::never();

// Passage 0: {1: 2, 5: 1}, 1: {}, 2: {5: 3}.
SparseLists small_lists() { return invert(std::vector<SparseEmbedding>{{{1, 5}, {2, 1}}, {{}, {}}, {{5}, {3}}}); }

TEST(SparseLists, HaveThePassagesOfEachTerm) {
  const SparseLists lists = small_lists();
  EXPECT_EQ(lists.terms, (std::vector<std::int32_t>{1, 5}));
  EXPECT_EQ(lists.ends, (std::vector<std::int64_t>{1, 3}));
  EXPECT_EQ(lists.passages, (std::vector<std::int32_t>{0, 0, 2}));
  EXPECT_EQ(lists.weights, (std::vector<float>{2, 1, 3}));
}

TEST(SparseLists, ScoresAreDotProductsOfPassagesThatShareATerm) {
  const SparseLists lists = small_lists();
  const auto ask = [&](const SparseEmbedding& question, std::size_t count) {
    return nearest_sparse(lists.table(), 3, question, count, kNobodyLeaves);
  };
  EXPECT_EQ(ask({{1, 5, 9}, {1, 0.5F, 7}}, 10), (std::vector<RowScore>{{0, 2.5F}, {2, 1.5F}}));
  EXPECT_EQ(ask({{5}, {1}}, 1), (std::vector<RowScore>{{2, 3}}));
  EXPECT_TRUE(ask({{2}, {1}}, 10).empty());
  EXPECT_TRUE(ask({{}, {}}, 10).empty());
}

TEST(SparseLists, PostingsOutsideOfThePassagesAreCorrupt) {
  SparseLists lists = small_lists();
  for (const std::int32_t passage : {3, -1, 2147483647}) {
    lists.passages[2] = passage;
    const Error error = base::error_of([&] { (void)nearest_sparse(lists.table(), 3, {{5}, {1}}, 2, kNobodyLeaves); });
    EXPECT_EQ(error.code(), ErrorCode::corrupt);
  }
}

// Joined runs of random lists are the lists of the passages in that order.
TEST(SparseLists, JoinedAreThoseOfThePassagesTogether) {
  std::minstd_rand generator(9);
  std::vector<SparseEmbedding> vectors(60);
  for (SparseEmbedding& vector : vectors) {
    for (std::int32_t term = 0; term < 30; ++term) {
      if (generator() % 4 != 0) continue;
      vector.indices.push_back(term);
      vector.values.push_back(static_cast<float>(generator() % 100));
    }
  }
  const std::span<const SparseEmbedding> all = vectors;
  const SparseLists first = invert(all.first(40)), second = invert(all.subspan(40));
  // The second list's passages 5 to 14, then the first's 0 to 9 and 30 to 39.
  std::vector<SparseEmbedding> wanted(vectors.begin() + 45, vectors.begin() + 55);
  wanted.insert(wanted.end(), vectors.begin(), vectors.begin() + 10);
  wanted.insert(wanted.end(), vectors.begin() + 30, vectors.begin() + 40);
  const std::vector<SparseRun> runs = {
      {second.table(), 5, 10, 0}, {first.table(), 0, 10, 10}, {first.table(), 30, 10, 20}};
  SparseLists joined;
  for_each_term(runs, [&](std::int32_t term, const SparseRun& run, std::span<const std::int32_t> passages,
                          std::span<const float> weights) {
    if (joined.terms.empty() || joined.terms.back() != term) {
      joined.terms.push_back(term);
      joined.ends.push_back(joined.ends.empty() ? 0 : joined.ends.back());
    }
    joined.ends.back() += static_cast<std::int64_t>(passages.size());
    for (const std::int32_t passage : passages)
      joined.passages.push_back(passage - static_cast<std::int32_t>(run.first) +
                                static_cast<std::int32_t>(run.new_first));
    joined.weights.insert(joined.weights.end(), weights.begin(), weights.end());
  });
  const SparseLists together = invert(wanted);
  EXPECT_EQ(joined.terms, together.terms);
  EXPECT_EQ(joined.ends, together.ends);
  EXPECT_EQ(joined.passages, together.passages);
  EXPECT_EQ(joined.weights, together.weights);
}

TEST(FusedByRank, AddsTheReciprocalsOfRanks) {
  const std::vector<std::vector<RowScore>> lists = {{{7, 0.9F}, {3, 0.8F}}, {{3, 12}, {5, 11}}};
  const std::vector<RowScore> fused = fused_by_rank(lists, 2);
  ASSERT_EQ(fused.size(), 2U);
  EXPECT_EQ(fused[0].row, 3U);
  EXPECT_FLOAT_EQ(fused[0].score, 1.0F / 62 + 1.0F / 61);
  EXPECT_EQ(fused[1].row, 7U);
  EXPECT_FLOAT_EQ(fused[1].score, 1.0F / 61);
}

// Indexes of models that give sparse vectors: bge-m3's form gives dense ones too, SPLADE's only these.
class SparseIndex : public testing::TestWithParam<std::string> {
 protected:
  SparseIndex() {
    tests::write_tiny_kinds(folder_.path() / "model", GetParam());
    pipeline_ = EmbeddingPipeline::load(folder_.path() / "model");
    texts_.write("a.txt", "The cat sat on the mat.\n\nThe quick brown fox jumped.\n");
    texts_.write("b.txt", "A fox, a fox: 1 2 3!\n\nNothing else.\n");
    texts_.write("c.txt", "the mat\n");
  }
  IndexReport build(const fs::path& out, IndexOptions options = {}) const {
    options.chunk.target_tokens = 8;
    options.chunk.overlap_tokens = 0;
    return build_index(*pipeline_, {texts_.path()}, out, options);
  }
  static std::string bytes_of(const fs::path& folder) {
    std::ifstream file(folder / kIndexFile, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  fs::path out() const { return folder_.path() / "index"; }

  base::TemporaryFolder texts_, folder_;
  std::optional<EmbeddingPipeline> pipeline_;
};

TEST_P(SparseIndex, ScoresAreDotProductsOfTheModelsWeights) {
  build(out());
  const SearchIndex index = SearchIndex::open(out());
  EXPECT_EQ(index.kinds(), (EmbeddingKinds{.dense = GetParam() == "m3", .sparse = true}));
  const std::vector<SearchResult> found = index.search(*pipeline_, "the fox", {.mode = SearchMode::sparse, .top = 100});
  ASSERT_FALSE(found.empty());
  const auto weights_of = [&](std::string_view text, const char* task) {
    const SparseEmbedding made =
        pipeline_->embed_kinds(std::span(&text, 1), {.sparse = true}, {.task = task}).sparse.front();
    std::map<std::int32_t, double> weights;
    for (std::size_t i = 0; i < made.indices.size(); ++i) weights[made.indices[i]] = double{made.values[i]};
    return weights;
  };
  const auto question = weights_of("the fox", "query");
  for (const SearchResult& result : found) {
    double sum = 0;
    for (const auto& [term, weight] : weights_of(result.text, "document")) {
      const auto same = question.find(term);
      if (same != question.end()) sum += same->second * weight;
    }
    EXPECT_NEAR(result.score, sum, 1e-4 * (1 + sum)) << result.text;
  }
  EXPECT_TRUE(std::ranges::is_sorted(found, std::ranges::greater(), &SearchResult::score));
}

TEST_P(SparseIndex, OnlyChangedFilesAreEmbeddedAgainAndBytesAreThoseOfANewIndex) {
  for (const Precision precision : {Precision::float32, Precision::int8}) {
    build(out(), {.precision = precision});
    texts_.write("b.txt", "Other words of " + std::string(to_string(precision)));
    texts_.write("aa.txt", "The fox again.");
    EXPECT_EQ(build(out(), {.precision = precision}).embedded_files, 2U);
    build(folder_.path() / "fresh", {.precision = precision});
    EXPECT_TRUE(bytes_of(out()) == bytes_of(folder_.path() / "fresh"));
    fs::remove_all(out());
    fs::remove_all(folder_.path() / "fresh");
    fs::remove(texts_.path() / "aa.txt");
  }
}

TEST_P(SparseIndex, ModesThatItLacksAreRefused) {
  build(out(), {.kinds = {.sparse = true}});
  const SearchIndex index = SearchIndex::open(out());
  EXPECT_EQ(index.kinds(), EmbeddingKinds{.sparse = true});
  EXPECT_FALSE(index.search(*pipeline_, "the fox").empty());
  for (const SearchMode mode : {SearchMode::dense, SearchMode::hybrid})
    EXPECT_EQ(base::error_of([&] { (void)index.search(*pipeline_, "fox", {.mode = mode}); }).code(),
              ErrorCode::invalid_argument);
  EXPECT_EQ(base::error_of([&] { build(out(), {.kinds = {.sparse = true, .multi_vector = true}}); }).code(),
            ErrorCode::invalid_argument);
}

class HybridIndex : public SparseIndex {};

TEST_P(HybridIndex, JoinsTheRanksOfBoth) {
  build(out());
  const SearchIndex index = SearchIndex::open(out());
  std::map<std::size_t, float> wanted;
  for (const SearchMode mode : {SearchMode::dense, SearchMode::sparse}) {
    float rank = 0;
    for (const SearchResult& result : index.search(*pipeline_, "the fox", {.mode = mode, .top = 100}))
      wanted[result.id] += 1 / (60 + ++rank);
  }
  const std::vector<SearchResult> found = index.search(*pipeline_, "the fox", {.top = 100});
  ASSERT_EQ(found.size(), wanted.size());
  for (const SearchResult& result : found) EXPECT_FLOAT_EQ(result.score, wanted.at(result.id));
  EXPECT_TRUE(std::ranges::is_sorted(found, std::ranges::greater(), &SearchResult::score));
}

TEST_P(SparseIndex, BrokenListsAreRefused) {
  const auto error_with = [&](const std::string& name, const std::function<Tensor(const Tensor&)>& change) {
    build(out());
    std::vector<formats::NamedTensor> tensors;
    std::map<std::string, std::string> metadata;
    {
      const auto file = formats::SafetensorsFile::open(out() / kIndexFile, base::MappedFile::Mode::read);
      for (const std::string_view each : file->names())
        tensors.push_back({std::string(each), each == name ? change(file->tensor(each)) : file->tensor(each)});
      metadata = file->metadata();
    }
    formats::write_safetensors(out() / kIndexFile, tensors, metadata);
    const Error error = base::error_of([&] { (void)SearchIndex::open(out()); });
    fs::remove_all(out());
    return error.code();
  };
  const auto with = [](std::size_t at, auto value) {
    return [at, value](const Tensor& tensor) {
      using Value = decltype(value);
      const auto old = tensor.values<Value>();
      std::vector<Value> values(old.begin(), old.end());
      values[at] = value;
      return Tensor::from<Value>({static_cast<std::int64_t>(values.size())}, std::span<const Value>(values));
    };
  };
  EXPECT_EQ(error_with("sparse_terms", with(1, std::int32_t{0})), ErrorCode::corrupt);
  EXPECT_EQ(error_with("sparse_terms", with(0, std::int32_t{-1})), ErrorCode::corrupt);
  EXPECT_EQ(error_with("sparse_ends", with(0, std::int64_t{-1})), ErrorCode::corrupt);
  EXPECT_EQ(error_with("sparse_ends", with(0, std::int64_t{1} << 40)), ErrorCode::corrupt);
  const auto shorter = [](const Tensor&) { return Tensor::zeros({DType::f32, {1}}); };
  EXPECT_EQ(error_with("sparse_weights", shorter), ErrorCode::corrupt);
  EXPECT_EQ(error_with("sparse_passages", shorter), ErrorCode::corrupt);
}

// It can give SPLADE's vectors, but nothing says that it was trained for them.
TEST(IndexedKinds, OfAMaskedLanguageModelAreDenseUnlessAskedFor) {
  const base::TemporaryFolder folder;
  tests::write_tiny_kinds(folder.path() / "model", "masked_lm");
  folder.write("a.txt", "The cat sat on the mat.\n");
  const EmbeddingPipeline pipeline = EmbeddingPipeline::load(folder.path() / "model");
  ASSERT_TRUE(pipeline.kinds().sparse);
  const auto kinds_with = [&](const IndexOptions& options) {
    build_index(pipeline, {folder.path() / "a.txt"}, folder.path() / "index", options);
    return SearchIndex::open(folder.path() / "index").kinds();
  };
  EXPECT_EQ(kinds_with({}), EmbeddingKinds{.dense = true});
  EXPECT_EQ(kinds_with({.kinds = {.dense = true, .sparse = true}}), (EmbeddingKinds{.dense = true, .sparse = true}));
}

INSTANTIATE_TEST_SUITE_P(Models, SparseIndex, testing::Values("m3", "splade_max"));
INSTANTIATE_TEST_SUITE_P(Models, HybridIndex, testing::Values("m3"));

}  // namespace
}  // namespace alate::search
