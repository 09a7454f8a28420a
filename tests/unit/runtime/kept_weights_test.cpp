// Weights in bf16 and f16: which are rounded on load, which are used as stored, which are refused.
#include "models/weights/kept_weights.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "alate/error.h"
#include "alate/memory.h"
#include "alate/model.h"
#include "base/files/mapped_file.h"
#include "formats/tensor_file.h"
#include "graph/interpreter.h"
#include "models/weights/weight_settings.h"
#include "runtime/loading/loaded_model.h"
#include "runtime/loading/memory_estimate.h"
#include "tensor/half.h"
#include "tests/source_folder.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate {
namespace {

constexpr const char* kWeight = "encoder.layer.0.attention.self.query.weight";

std::filesystem::path tiny(const std::string& name) { return source_folder() / "tests/golden/models" / name; }

std::uint16_t half_of(const Tensor& tensor) { return *reinterpret_cast<const std::uint16_t*>(tensor.bytes().data()); }

TEST(ComputeType, IsReadFromItsNames) {
  EXPECT_EQ(models::require_compute_type("bf16"), ComputeType::bfloat16);
  EXPECT_EQ(models::require_compute_type("bfloat16"), ComputeType::bfloat16);
  EXPECT_EQ(models::require_compute_type("f16"), ComputeType::float16);
  EXPECT_EQ(models::require_compute_type("float16"), ComputeType::float16);
  EXPECT_EQ(models::require_compute_type("auto"), ComputeType::automatic);
  EXPECT_EQ(models::require_compute_type("q5_1"), ComputeType::q5_1);
  const Error error = base::error_of([] { models::require_compute_type("fp8"); });
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_NE(error.message().find("q4_0, not in fp8"), std::string::npos);
  EXPECT_EQ(models::WeightSettings{.dtype = ComputeType::bfloat16}.computes_in(), "bfloat16");
  EXPECT_EQ(models::WeightSettings{.dtype = ComputeType::float16}.computes_in(), "float16");
}

TEST(ComputeType, ActivationsAreRoundedWhereWeightsAreRoundedToFewerBits) {
  using enum ComputeType;
  const models::QuantizationConfig plain, in_8_bits{.is_present = true};
  for (const auto dtype : {bfloat16, int8}) EXPECT_TRUE((models::WeightSettings{plain, dtype}.rounds_activations()));
  for (const auto dtype : {as_stored, float32, float16})
    EXPECT_FALSE((models::WeightSettings{plain, dtype}.rounds_activations()));
  EXPECT_TRUE((models::WeightSettings{in_8_bits, as_stored}.rounds_activations()));
  EXPECT_FALSE((models::WeightSettings{in_8_bits, float32}.rounds_activations()));
}

TEST(KeptWeights, OfTheTypeOfTheFileAreTheFilesOwn) {
  const graph::ConstantPtr stored = graph::make_constant("w", Tensor::zeros({DType::bf16, {2}}),
                                                         FingerprintBuilder().add(std::string_view("w")).finish());
  const graph::ConstantPtr widened =
      graph::make_constant(graph::Op::convert, graph::Convert{.dtype = DType::f32}, {DType::f32, {2}}, {stored});
  EXPECT_EQ(models::kept_as(DType::bf16, widened, "w"), stored);
  EXPECT_EQ(models::kept_as(DType::f32, widened, "w"), widened);
}

TEST(KeptWeights, AreRoundedOnceFromWhatIsStored) {
  // By way of f32 it would be 1 + 2^-8, from where ties to even lead to 1.
  const graph::ConstantPtr stored = graph::make_constant("w", Tensor::from<double>({1}, {1 + 0x1p-8 + 0x1p-30}));
  const graph::ConstantPtr widened =
      graph::make_constant(graph::Op::convert, graph::Convert{.dtype = DType::f32}, {DType::f32, {1}}, {stored});
  const Tensor rounded = graph::materialize(*models::kept_as(DType::bf16, widened, "w"));
  EXPECT_EQ(tensor::bf16_to_float(half_of(rounded)), 1 + 0x1p-7F);
}

TEST(KeptWeights, BeyondF16AreRefused) {
  const auto kept = [](float value, DType dtype) {
    return half_of(graph::materialize(
        *models::kept_as(dtype, graph::make_constant("w", Tensor::from<float>({1}, {value})), "layer.weight")));
  };
  EXPECT_EQ(tensor::f16_to_float(kept(65519, DType::f16)), 65504);
  EXPECT_EQ(tensor::f16_to_float(kept(0x1p-26F, DType::f16)), 0);
  EXPECT_TRUE(std::isinf(tensor::f16_to_float(kept(-INFINITY, DType::f16))));
  EXPECT_EQ(tensor::bf16_to_float(kept(0x1p100F, DType::bf16)), 0x1p100F);
  const Error error = base::error_of([&] { kept(-65520, DType::f16); });
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_NE(error.message().find("weight 'layer.weight' has the number -65520.000000, and float16 ends at 65504"),
            std::string::npos)
      << error.message();
}

TEST(KeptWeights, OfAFileBeyondF16AreRefusedByName) {
  base::TemporaryFolder folder;
  std::vector<formats::NamedTensor> tensors = formats::read_tensors(tiny("odd_sizes") / "model.safetensors");
  for (formats::NamedTensor& named : tensors) {
    if (named.name != kWeight) continue;
    named.tensor = Tensor::from<float>({36, 36}, std::vector<float>(36 * 36, 1));
    named.tensor.mutable_values<float>()[5] = 1e6F;
  }
  formats::write_tensors(folder.path() / "model.safetensors", tensors);
  folder.write("config.json", base::read_text_file(tiny("odd_sizes") / "config.json"));
  const Error error = base::error_of([&] { Model::load(folder.path(), {.dtype = ComputeType::float16}); });
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_NE(error.message().find(kWeight), std::string::npos) << error.message();
  EXPECT_EQ(Model::load(folder.path(), {.dtype = ComputeType::bfloat16}).facts().dtype, "bfloat16");
}

TEST(KeptWeights, GiveWhatFloatsGiveButForRounding) {
  const NamedTensors inputs = {{"input_ids", Tensor::from<std::int64_t>({2, 3}, {1, 5, 2, 7, 3, 9})}};
  for (const char* name : {"odd_sizes", "stored_bf16", "stored_f16"}) {
    const Tensor wanted = Model::load(tiny(name)).forward(inputs).at("last_hidden_state");
    for (const char* dtype : {"bfloat16", "float16"}) {
      const Model model = Model::load(tiny(name), {.dtype = models::require_compute_type(dtype)});
      EXPECT_EQ(model.facts().dtype, dtype);
      const Tensor found = model.forward(inputs).at("last_hidden_state");
      double farthest = 0;
      for (std::size_t i = 0; i < wanted.values<float>().size(); ++i)
        farthest = std::max(farthest, std::abs(double{found.values<float>()[i]} - double{wanted.values<float>()[i]}));
      EXPECT_LT(farthest, std::string(dtype) == "bfloat16" ? 0.05 : 0.005) << name << " in " << dtype;
      // f16 holds these weights, whose numbers are small and of the bits of bf16 or f16.
      if (std::string(name) != "odd_sizes" && std::string(dtype) == "float16") {
        EXPECT_EQ(farthest, 0);
      } else {
        EXPECT_GT(farthest, 0) << name << " in " << dtype;
      }
    }
  }
}

TEST(KeptWeights, TakeTheMemoryThatIsEstimated) {
  for (const char* name : {"odd_sizes", "stored_bf16"}) {
    for (const char* dtype : {"bfloat16", "float16"}) {
      const ComputeType type = models::require_compute_type(dtype);
      const Model model = Model::load(tiny(name), {.dtype = type});
      const ModelMemory memory = estimate_model_memory(tiny(name), {.batch_size = 1, .max_length = 8, .dtype = type});
      EXPECT_EQ(memory.dtype, dtype);
      EXPECT_EQ(memory.owned_weights, model.state().store->owned_bytes()) << name << " in " << dtype;
      EXPECT_EQ(memory.mapped_weights + memory.owned_weights, model.state().forward_entry_point().facts().weight_bytes);
    }
  }
}

}  // namespace
}  // namespace alate
