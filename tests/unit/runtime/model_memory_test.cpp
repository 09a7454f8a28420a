// Memory estimates from the model's graph, against the figures of compiled programs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "alate/backend_choice.h"
#include "alate/memory.h"
#include "alate/model.h"
#include "backends/registry.h"
#include "base/files/mapped_file.h"
#include "formats/safetensors/safetensors_writer.h"
#include "formats/tensor_file.h"
#include "runtime/loading/loaded_model.h"
#include "runtime/loading/memory_estimate.h"
#include "tensor/half.h"
#include "tests/golden/golden_folder.h"
#include "tests/golden/tiny_weights.h"
#include "tests/sanitizers.h"
#include "tests/source_folder.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"
#include "tests/unit/runtime/forward_cases.h"

namespace alate::runtime {
namespace {

std::filesystem::path tiny_model() { return alate::source_folder() / "tests/golden/models/odd_sizes"; }

PackedTokens texts_of(std::size_t count, std::int32_t length) {
  PackedTokens tokens;
  tokens.ids.assign(count * static_cast<std::size_t>(length), 1);
  tokens.lengths.assign(count, length);
  return tokens;
}

// The estimate for runs of `count` texts of `length` tokens, against the program that computes one.
void expect_figures_of_program(const std::filesystem::path& folder, const LoadOptions& options, std::size_t count,
                               std::int32_t length) {
  const ModelMemory memory = estimate_model_memory(
      folder, {.batch_size = count, .max_length = static_cast<std::size_t>(length), .dtype = options.dtype});
  const Model model = Model::load(folder, options);
  const EntryPoint& program = model.state().forward_entry_point();
  program.run(texts_of(count, length), {}, {.cancellation = base::Cancellation::never()});
  const backends::ExecutableFacts facts = program.facts();
  const std::string what = folder.filename().string() + " " + std::string(to_string(options.dtype)) + " " +
                           std::to_string(count) + " x " + std::to_string(length);
  EXPECT_EQ(memory.activations, facts.scratch_bytes) << what;
  EXPECT_EQ(memory.mapped_weights + memory.owned_weights, facts.weight_bytes) << what;
  EXPECT_EQ(memory.owned_weights, model.state().store->owned_bytes()) << what;
  EXPECT_GT(facts.weight_bytes, 0U) << what;
}

TEST(ModelMemory, IsWhatTheCompiledProgramTakes) {
  for (const std::size_t count : {1U, 3U}) {
    for (const std::int32_t length : {1, 7, 16}) expect_figures_of_program(tiny_model(), {}, count, length);
  }
}

class MemoryOfArchitecture : public testing::TestWithParam<std::string> {};

TEST_P(MemoryOfArchitecture, IsWhatTheCompiledProgramTakes) {
  const base::TemporaryFolder folder;
  tests::write_tiny_model(tests::golden_folder("architectures/" + GetParam()), folder.path() / GetParam());
  for (const ComputeType type : {ComputeType::as_stored, ComputeType::bfloat16, ComputeType::int8})
    expect_figures_of_program(folder.path() / GetParam(), {.dtype = type}, 3, 16);
}

INSTANTIATE_TEST_SUITE_P(Folders, MemoryOfArchitecture, testing::ValuesIn(tests::golden_names("architectures")),
                         [](const auto& folder) { return folder.param; });

// Their matrices stay in float16.
TEST(ModelMemory, OfADecoderInFloat16IsWhatTheCompiledProgramTakes) {
  const base::TemporaryFolder folder;
  const std::filesystem::path model = folder.path() / "llama_base";
  tests::write_tiny_model(tests::golden_folder("architectures/llama_base"), model);
  std::vector<formats::NamedTensor> weights = formats::read_tensors(model / "model.safetensors");
  for (formats::NamedTensor& weight : weights) {
    const std::span<const float> floats = weight.tensor.values<float>();
    std::vector<std::uint16_t> halves(floats.size());
    tensor::float_to_f16(floats, halves);
    Tensor narrow = Tensor::uninitialized({DType::f16, weight.tensor.shape().dims});
    std::ranges::copy(std::as_bytes(std::span(halves)), narrow.mutable_bytes().begin());
    weight.tensor = std::move(narrow);
  }
  formats::write_safetensors(model / "model.safetensors", weights, {{"format", "pt"}});
  expect_figures_of_program(model, {}, 3, 16);
}

// Layers of real widths, in packed layouts that have no part left empty. One text: larger batches are cut into parts,
// whose memory is less than that of the whole.
TEST(ModelMemory, OfRealWidthsIsWhatTheCompiledProgramTakes) {
  const std::vector<std::string> names = {"albert_base", "modernbert_base", "nomic_bert", "gemma3_270m",
                                          "llama_smollm2_135m"};
  for (std::size_t i = 0; i < names.size(); i += tests::one_case_of(names.size())) {
    const std::string& name = names[i];
    const base::TemporaryFolder folder;
    tests::write_tiny_model(tests::golden_folder("real_shapes/" + name), folder.path() / name);
    for (const ComputeType type : {ComputeType::as_stored, ComputeType::int8})
      expect_figures_of_program(folder.path() / name, {.dtype = type}, 1, 100);
  }
}

TEST(ModelMemory, GrowsWithTheLengthUpToTheModelsOwn) {
  const auto activations = [](std::size_t length) {
    return estimate_model_memory(tiny_model(), {.batch_size = 2, .max_length = length}).activations;
  };
  EXPECT_LT(activations(4), activations(8));
  const ModelMemory most = estimate_model_memory(tiny_model(), {.batch_size = 1});
  EXPECT_EQ(most.max_length, Model::load(tiny_model()).facts().max_positions);
  const Error error = base::error_of([&] { activations(most.max_length + 1); });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
}

// Each distance has a score, not each pair of tokens.
TEST(ModelMemory, OfScoresByDistanceGrowsWithTheLength) {
  const base::TemporaryFolder folder;
  tests::write_tiny_model(tests::golden_folder("architectures/jina_bert_base"), folder.path() / "model");
  std::string text = base::read_text_file(folder.path() / "model/config.json");
  const std::string stated = "\"max_position_embeddings\": 20";
  ASSERT_NE(text.find(stated), std::string::npos);
  text.replace(text.find(stated), stated.size(), "\"max_position_embeddings\": 8192");
  folder.write("model/config.json", text);
  const auto activations = [&](std::size_t length) {
    return estimate_model_memory(folder.path() / "model", {.batch_size = 1, .max_length = length}).activations;
  };
  EXPECT_LT(activations(8192), 5 * activations(2048));
}

TEST(ModelMemory, AForeignRunTakesItsLiveValuesAndAllWeights) {
  const ModelMemory cpu = estimate_model_memory(tiny_model(), {.batch_size = 1, .max_length = 8});
  const ModelMemory reference =
      estimate_model_memory(tiny_model(), {.backend = BackendPlace::reference(), .batch_size = 1, .max_length = 8});
  EXPECT_EQ(reference.mapped_weights, 0U);
  EXPECT_GE(reference.owned_weights, Model::load(tiny_model()).facts().weight_bytes / 2);
  EXPECT_GT(reference.activations, 0U);
  EXPECT_EQ(reference.inputs_and_outputs, cpu.inputs_and_outputs);
}

TEST(RequireMemory, RefusesALoadThatCannotFitAndSaysWhatWould) {
  const FolderGraph model = graph_of_folder(tiny_model());
  const backends::Backend& cpu = backends::get_backend("cpu");
  const ModelMemory one = encoder_memory(cpu, model.graph, model.limits, {.batch_size = 1});
  backends::Device device;
  device.backend = device.name = "cpu";
  device.total_bytes = std::size_t{1} << 30;
  device.free_bytes = one.total();
  require_memory(cpu, device, model.graph, model.limits, "odd_sizes", {.batch_size = 1});
  device.free_bytes = one.total() - 1;
  const Error error =
      base::error_of([&] { require_memory(cpu, device, model.graph, model.limits, "odd_sizes", {.batch_size = 1}); });
  EXPECT_EQ(error.code(), ErrorCode::resource_exhausted);
  EXPECT_NE(error.message().find(human_bytes(one.total())), std::string::npos) << error.message();
  EXPECT_NE(error.message().find("--max-length"), std::string::npos) << error.message();
}

TEST(RequireMemory, ADeviceThatDoesNotTellIsTaken) {
  const FolderGraph model = graph_of_folder(tiny_model());
  require_memory(backends::get_backend("cpu"), backends::Device(), model.graph, model.limits, "odd_sizes",
                 least_run(model.limits));
}

TEST(RequireMemory, ThisMachineHoldsATinyModel) {
  const FolderGraph model = graph_of_folder(tiny_model());
  require_memory(backends::get_backend("cpu"), "", model.graph, model.limits, "odd_sizes");
  require_memory(backends::get_backend("cpu"), "0", model.graph, model.limits, "odd_sizes");
}

TEST(InitBackendWithMemoryCheck, TakesOneThatIsHereAndSaysWhy) {
  const std::vector<BackendPlace> preferred = {BackendPlace::cpu()};
  const BackendForMemory chosen = init_backend_with_memory_check(1, preferred);
  EXPECT_EQ(to_string(chosen.place), "cpu:cpu");
  EXPECT_NE(chosen.reason.find("free for 1 bytes"), std::string::npos) << chosen.reason;
  const Error error = base::error_of([&] { init_backend_with_memory_check(UINT64_MAX, preferred); });
  EXPECT_EQ(error.code(), ErrorCode::resource_exhausted);
  EXPECT_NE(error.message().find("cpu:cpu has "), std::string::npos) << error.message();
}

}  // namespace
}  // namespace alate::runtime
