// EmbeddingPipeline::embed_kinds against the reference, on the models that tests/golden/record_kinds.py recorded.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "alate/embedding.h"
#include "tests/golden/golden_folder.h"
#include "tests/golden/tiny_kinds.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate {
namespace {

struct Case {
  std::string model, name;
};

std::vector<Case> cases() {
  std::vector<Case> cases;
  for (const std::string& model : tests::golden_names("kinds")) {
    for (const auto& [file, text] : tests::golden_texts("kinds/" + model)) {
      const std::filesystem::path path = file;
      if (file.starts_with("case_") && path.extension() == ".json")
        cases.push_back({model, path.stem().string().substr(5)});
    }
  }
  std::ranges::sort(cases, {}, [](const Case& one) { return one.model + " " + one.name; });
  return cases;
}

EmbeddingKinds kinds_of(const KindEmbeddings& recorded) {
  return {.dense = !recorded.dense.empty(),
          .sparse = !recorded.sparse.empty(),
          .multi_vector = !recorded.multi_vectors.empty()};
}

void expect_near(std::span<const float> found, std::span<const float> wanted, const std::string& what) {
  ASSERT_EQ(found.size(), wanted.size()) << what;
  float largest = 0;
  for (const float value : wanted) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-5 * largest) << what << " " << i;
}

void expect_equal_tensors(const Tensor& found, const Tensor& wanted, const std::string& what) {
  ASSERT_EQ(to_string(found.shape()), to_string(wanted.shape())) << what;
  expect_near(found.values<float>(), wanted.values<float>(), what);
}

void expect_equal(const KindEmbeddings& found, const KindEmbeddings& wanted, const std::string& what) {
  ASSERT_EQ(found.sparse.size(), wanted.sparse.size()) << what;
  for (std::size_t i = 0; i < wanted.sparse.size(); ++i) {
    const std::string text = what + ", sparse " + std::to_string(i);
    ASSERT_EQ(found.sparse[i].indices, wanted.sparse[i].indices) << text;
    expect_near(found.sparse[i].values, wanted.sparse[i].values, text);
  }
  ASSERT_EQ(found.multi_vectors.size(), wanted.multi_vectors.size()) << what;
  for (std::size_t i = 0; i < wanted.multi_vectors.size(); ++i)
    expect_equal_tensors(found.multi_vectors[i], wanted.multi_vectors[i], what + ", vectors " + std::to_string(i));
  ASSERT_EQ(found.dense.empty(), wanted.dense.empty()) << what;
  if (!wanted.dense.empty()) expect_equal_tensors(found.dense, wanted.dense, what + ", dense");
  EXPECT_EQ(found.truncated, wanted.truncated) << what;
}

EmbedOptions options_of(const tests::RecordedKinds& recorded) {
  return {.sparse_top_k = recorded.top_k, .task = recorded.task};
}

class KindsGolden : public testing::TestWithParam<Case> {
 protected:
  KindsGolden() { tests::write_tiny_kinds(folder_.path(), GetParam().model); }

  EmbeddingPipeline load(const char* backend = "cpu") const {
    return EmbeddingPipeline::load(folder_.path(), {.load = {.backend = {.places = {BackendPlace::parse(backend)}}}});
  }

  base::TemporaryFolder folder_;
  const tests::RecordedKinds recorded_ = tests::read_kinds(GetParam().model, GetParam().name);
};

TEST_P(KindsGolden, EqualTheReference) {
  for (const char* backend : {"cpu", "reference"}) {
    const KindEmbeddings found =
        load(backend).embed_kinds(recorded_.texts, kinds_of(recorded_.embeddings), options_of(recorded_));
    expect_equal(found, recorded_.embeddings, backend);
    EXPECT_GT(found.tokens, 0U);
  }
}

TEST_P(KindsGolden, EachKindIsTheSameByItself) {
  const EmbeddingPipeline pipeline = load();
  for (const EmbeddingKind kind : kinds_of(recorded_.embeddings).list()) {
    KindEmbeddings wanted;
    wanted.truncated = recorded_.embeddings.truncated;
    if (kind == EmbeddingKind::dense) wanted.dense = recorded_.embeddings.dense;
    if (kind == EmbeddingKind::sparse) wanted.sparse = recorded_.embeddings.sparse;
    if (kind == EmbeddingKind::multi_vector) wanted.multi_vectors = recorded_.embeddings.multi_vectors;
    expect_equal(pipeline.embed_kinds(recorded_.texts, EmbeddingKinds::only(kind), options_of(recorded_)), wanted,
                 std::string(to_string(kind)));
  }
}

TEST_P(KindsGolden, AreTheSameBitsInEveryBatch) {
  const EmbeddingPipeline pipeline = load();
  EmbedOptions options = options_of(recorded_);
  const KindEmbeddings together = pipeline.embed_kinds(recorded_.texts, kinds_of(recorded_.embeddings), options);
  options.batch_size = 1;
  const KindEmbeddings apart = pipeline.embed_kinds(recorded_.texts, kinds_of(recorded_.embeddings), options);
  for (std::size_t i = 0; i < together.sparse.size(); ++i) EXPECT_EQ(together.sparse[i].values, apart.sparse[i].values);
  for (std::size_t i = 0; i < together.multi_vectors.size(); ++i)
    EXPECT_TRUE(std::ranges::equal(together.multi_vectors[i].bytes(), apart.multi_vectors[i].bytes())) << i;
}

INSTANTIATE_TEST_SUITE_P(Models, KindsGolden, testing::ValuesIn(cases()),
                         [](const auto& one) { return one.param.model + "_" + one.param.name; });

}  // namespace
}  // namespace alate
