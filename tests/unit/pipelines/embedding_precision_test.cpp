// Embeddings in fewer bits against sentence-transformers, as tests/golden/record_precisions.py recorded it.
#include "alate/embedding_precision.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "alate/error.h"
#include "formats/tensor_file.h"
#include "tests/source_folder.h"
#include "tests/unit/base/expect_error.h"

namespace alate {
namespace {

std::map<std::string, Tensor> recorded() {
  std::map<std::string, Tensor> tensors;
  for (formats::NamedTensor& each : formats::read_tensors(source_folder() / "tests/golden/precisions.safetensors"))
    tensors.emplace(each.name, std::move(each.tensor));
  return tensors;
}

TEST(EmbeddingPrecision, EqualsSentenceTransformersBitForBit) {
  const std::map<std::string, Tensor> golden = recorded();
  const Tensor& vectors = golden.at("vectors");
  const Tensor ranges = embedding_ranges(golden.at("calibration"));
  for (const char* name : {"int8", "uint8", "binary", "ubinary"}) {
    const Precision precision = *parse_precision(name);
    const auto expect = [&](const Tensor& found, const Tensor& wanted) {
      EXPECT_EQ(to_string(found.shape()), to_string(wanted.shape())) << name;
      EXPECT_TRUE(std::ranges::equal(found.bytes(), wanted.bytes())) << name;
    };
    expect(quantize_embeddings(vectors, precision), golden.at("fixed_" + std::string(name)));
    expect(quantize_embeddings(vectors, precision, ranges), golden.at("calibrated_" + std::string(name)));
  }
}

TEST(EmbeddingPrecision, NumbersThatAreNotFiniteGetTheEnds) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<float> values = {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()};
  const Tensor found = quantize_embeddings(Tensor::from<float>({1, 3}, values), Precision::uint8);
  const std::vector<std::uint8_t> wanted = {255, 0, 0};
  EXPECT_TRUE(std::ranges::equal(found.values<std::uint8_t>(), wanted));
}

TEST(EmbeddingPrecision, OtherShapesAreRefused) {
  const Tensor vectors = Tensor::zeros({DType::f32, {2, 3}});
  const auto code = [](const auto& call) { return base::error_of(call).code(); };
  EXPECT_EQ(code([&] {
              quantize_embeddings(vectors, Precision::int8, Tensor::zeros({DType::f32, {2, 4}}));
            }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code([&] {
              quantize_embeddings(Tensor::zeros({DType::i8, {2, 3}}), Precision::int8);
            }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code([&] { embedding_ranges(Tensor::zeros({DType::f32, {0, 3}})); }), ErrorCode::invalid_argument);
}

TEST(EmbeddingPrecision, IsReadFromItsNames) {
  for (const char* name : {"float32", "int8", "uint8", "binary", "ubinary"})
    EXPECT_EQ(to_string(*parse_precision(name)), name);
  EXPECT_EQ(parse_precision("int4"), std::nullopt);
}

}  // namespace
}  // namespace alate
