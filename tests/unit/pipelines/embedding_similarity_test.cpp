#include "alate/embedding_similarity.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "alate/embedding.h"
#include "alate/error.h"
#include "tests/golden/golden_folder.h"
#include "tests/golden/tiny_weights.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate {
namespace {

Tensor vectors(std::int64_t rows, const std::vector<float>& values) {
  return Tensor::from<float>({rows, static_cast<std::int64_t>(values.size()) / rows}, values);
}

std::vector<float> of(Similarity similarity) {
  const Tensor found = similarities(vectors(2, {3, 4, 0, 0}), vectors(3, {4, 3, -6, -8, 0, 1}), similarity);
  EXPECT_EQ(to_string(found.shape()), "f32[2,3]");
  return {found.values<float>().begin(), found.values<float>().end()};
}

TEST(Similarities, AreOfEachVectorToEach) {
  EXPECT_EQ(of(Similarity::dot), (std::vector<float>{24, -50, 4, 0, 0, 0}));
  EXPECT_EQ(of(Similarity::cosine), (std::vector<float>{0.96F, -1, 0.8F, 0, 0, 0}));
  EXPECT_EQ(of(Similarity::manhattan), (std::vector<float>{-2, -21, -6, -7, -14, -1}));
  const std::vector<float> distances = of(Similarity::euclidean);
  const std::vector<float> wanted = {-1.41421356F, -15, -4.24264069F, -5, -10, -1};
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_FLOAT_EQ(distances[i], wanted[i]) << i;
}

TEST(Similarities, AreOfVectorsAsWideAsEachOther) {
  const auto code = [](const Tensor& a, const Tensor& b) {
    return base::error_of([&] { (void)similarities(a, b); }).code();
  };
  EXPECT_EQ(code(vectors(1, {1, 2}), vectors(1, {1, 2, 3})), ErrorCode::invalid_argument);
  EXPECT_EQ(code(vectors(1, {1, 2}), Tensor::zeros({DType::f32, {2}})), ErrorCode::invalid_argument);
  EXPECT_EQ(code(Tensor::zeros({DType::i8, {1, 2}}), vectors(1, {1, 2})), ErrorCode::invalid_argument);
}

TEST(Similarities, HaveTheirNames) {
  for (const Similarity each : {Similarity::cosine, Similarity::dot, Similarity::euclidean, Similarity::manhattan})
    EXPECT_EQ(parse_similarity(to_string(each)), each);
  EXPECT_EQ(parse_similarity("dot_product"), Similarity::dot);
  EXPECT_EQ(parse_similarity("maxsim"), std::nullopt);
}

TEST(Similarities, AreStatedByTheModel) {
  const base::TemporaryFolder folder;
  for (const auto& [name, stated] :
       {std::pair<std::string, Similarity>("router_after", Similarity::manhattan), {"tasks", Similarity::cosine}}) {
    tests::write_tiny_model(tests::golden_folder("modules/" + name), folder.path() / name);
    EXPECT_EQ(EmbeddingPipeline::load(folder.path() / name).similarity(), stated) << name;
  }
}

}  // namespace
}  // namespace alate
