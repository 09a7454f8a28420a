// Memory estimates from the model's graph, against the figures of compiled programs.
#include <gtest/gtest.h>

#include "alate/memory.h"
#include "backends/registry.h"
#include "runtime/loading/loaded_model.h"
#include "runtime/loading/memory_estimate.h"
#include "tests/source_folder.h"
#include "tests/unit/base/expect_error.h"

namespace alate::runtime {
namespace {

std::filesystem::path tiny_model() { return alate::source_folder() / "tests/golden/models/odd_sizes"; }

PackedTokens texts_of(std::size_t count, std::int32_t length) {
  PackedTokens tokens;
  tokens.ids.assign(count * static_cast<std::size_t>(length), 1);
  tokens.lengths.assign(count, length);
  return tokens;
}

TEST(ModelMemory, IsWhatTheCompiledProgramTakes) {
  const Model model = Model::load(tiny_model());
  const EntryPoint& program = model.state().forward_entry_point();
  for (const std::size_t count : {1U, 3U}) {
    for (const std::int32_t length : {1, 7, 16}) {
      const ModelMemory memory =
          estimate_model_memory(tiny_model(), {.batch_size = count, .max_length = static_cast<std::size_t>(length)});
      const Model fresh = Model::load(tiny_model());
      fresh.state().forward_entry_point().run(texts_of(count, length), {},
                                              {.cancellation = base::Cancellation::never()});
      const backends::ExecutableFacts facts = fresh.state().forward_entry_point().facts();
      EXPECT_EQ(memory.activations, facts.scratch_bytes) << count << " x " << length;
      EXPECT_EQ(memory.mapped_weights + memory.owned_weights, facts.weight_bytes);
      EXPECT_EQ(memory.owned_weights, fresh.state().store->owned_bytes());
    }
  }
  EXPECT_GT(program.facts().weight_bytes, 0U);
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
