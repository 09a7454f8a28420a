// Weights that their source stores in blocks of quantized numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/weight_source.h"
#include "graph/interpreter.h"
#include "models/weights/weights.h"

namespace alate::models {
namespace {

constexpr std::int64_t kOut = 3, kIn = 32;  // one block of q8_0 a row
constexpr std::size_t kBlockBytes = 34;     // an f16 scale and 32 numbers of 8 bits

// NAME.weight [3, 32] in blocks of q8_0, and NAME.bias.
class BlockSource final : public formats::WeightSource {
 public:
  BlockSource() : blocks_(Tensor::zeros({DType::u8, {kOut, static_cast<std::int64_t>(kBlockBytes)}})) {
    const std::span<std::byte> bytes = blocks_.mutable_bytes();
    for (std::size_t row = 0; row < kOut; ++row) {
      std::byte* block = bytes.data() + row * kBlockBytes;
      block[1] = std::byte{0x38};  // 0.5 as f16
      for (std::size_t i = 0; i < kIn; ++i) block[2 + i] = static_cast<std::byte>(row + i);
    }
  }

  std::vector<std::string_view> names() const override { return {"layer.weight", "layer.bias"}; }
  std::optional<formats::WeightInfo> info(std::string_view name) const override {
    if (name == "layer.bias") return formats::WeightInfo{.shape = {DType::f32, {kOut}}, .bytes = kOut * sizeof(float)};
    if (name != "layer.weight") return std::nullopt;
    return formats::WeightInfo{
        .shape = {DType::u8, {kOut, kIn}}, .encoding = tensor::EncodingKind::q8_0, .bytes = kOut * kBlockBytes};
  }
  Tensor tensor(std::string_view name) const override {
    return name == "layer.bias" ? Tensor::from<float>({kOut}, {1, 2, 3}) : blocks_;
  }
  Fingerprint identity(std::string_view name) const override { return FingerprintBuilder().add(name).finish(); }
  void release(std::string_view) const override {}
  void require_unchanged() const override {}
  std::vector<formats::WeightFile> files() const override { return {}; }

 private:
  Tensor blocks_;
};

TEST(EncodedWeights, AreReadAsFloats) {
  const BlockSource source;
  const Weights weights(source, "");
  const Tensor floats = weights.floats("layer.weight");
  EXPECT_EQ(floats.shape(), (Shape{DType::f32, {kOut, kIn}}));
  EXPECT_EQ(floats.values<float>()[0], 0.0F);
  EXPECT_EQ(floats.values<float>()[static_cast<std::size_t>(kIn)], 0.5F);          // row 1, column 0
  EXPECT_EQ(floats.values<float>()[2 * static_cast<std::size_t>(kIn) + 4], 3.0F);  // (2 + 4) · 0.5
}

TEST(EncodedWeights, TakePartInProducts) {
  const BlockSource source;
  Weights weights(source, "");
  graph::Builder b("layer");
  const graph::Value x = b.parameter("x", {DType::f32, {1, kIn}});
  b.output("y", weights.linear(b, "layer", x, kIn, kOut));
  std::vector<float> ones(static_cast<std::size_t>(kIn), 1);
  const Tensor input = Tensor::from<float>({1, kIn}, std::span(ones));
  const std::vector<Tensor> results = graph::interpret(b.finish(), std::span(&input, 1), base::Cancellation::never());
  // 0.5 · Σ (row + i) for i = 0 … 31, plus the bias
  const std::span<const float> y = results.at(0).values<float>();
  EXPECT_EQ(std::vector<float>(y.begin(), y.end()), (std::vector<float>{249, 266, 283}));
  EXPECT_TRUE(weights.unused().empty());
}

}  // namespace
}  // namespace alate::models
