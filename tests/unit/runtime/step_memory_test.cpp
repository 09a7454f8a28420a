// The memory of decoders: estimates against the compiled step, and the cache that a machine holds.
#include "runtime/loading/step_memory.h"

#include <numeric>

#include "backends/registry.h"
#include "step_testing.h"

namespace alate::runtime {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

class StepMemory : public StepTest {
 protected:
  const FolderStep folder_step_ = step_of_folder(model_.folder());
  const backends::Backend& cpu_ = backends::get_backend("cpu");
};

TEST_F(StepMemory, IsWhatTheCompiledStepTakes) {
  for (const std::size_t context : {std::size_t{20}, std::size_t{200}, kPositions}) {
    const ModelMemory memory = decoder_memory(cpu_, folder_step_.step, folder_step_.limits, {.context = context});
    const Model model = Model::load(model_.folder(), {.backend = {.places = {BackendPlace::cpu()}}});
    const std::shared_ptr<const StepProgram> program = model.state().step_program();
    CachePages cache = program->make_cache(StepProgram::pages_of(context));
    TokenIds pages(StepProgram::pages_of(context));
    std::iota(pages.begin(), pages.end(), 0);
    (void)program->run(std::vector<StepSequence>{{.ids = random_ids(context, 1), .pages = pages}}, cache,
                       {.cancellation = base::Cancellation::never()});
    EXPECT_EQ(memory.activations, program->facts().scratch_bytes) << context;
    EXPECT_EQ(memory.mapped_weights + memory.owned_weights, program->facts().weight_bytes) << context;
    std::size_t bytes = 0;
    for (const Tensor& tensor : cache.tensors) bytes += tensor.byte_count();
    EXPECT_EQ(memory.kv_cache, bytes);
  }
}

TEST_F(StepMemory, GrowsWithTheContextAndTheTexts) {
  const auto memory = [&](std::size_t context, std::size_t sequences) {
    return decoder_memory(cpu_, folder_step_.step, folder_step_.limits, {.context = context, .sequences = sequences});
  };
  EXPECT_EQ(memory(64, 1).kv_cache, 64 * models::bytes_per_token(program_->layout()));
  EXPECT_EQ(memory(64, 3).kv_cache, 3 * memory(64, 1).kv_cache);
  EXPECT_EQ(memory(0, 1).kv_cache, memory(kPositions, 1).kv_cache);
  EXPECT_EQ(memory(64, 1).owned_weights, memory(64, 3).owned_weights);
  const Error error = base::error_of([&] { (void)memory(kPositions + 1, 1); });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(error.message(), "a context of 513 tokens is longer than the 512 that the model has");
  EXPECT_EQ(estimate_model_memory(model_.folder(), {.batch_size = 3, .context = 64}).kv_cache, memory(64, 3).kv_cache);
  EXPECT_EQ(estimate_model_memory(model_.folder()).kv_cache, 0U);
}

TEST_F(StepMemory, SaysWhichContextFits) {
  const MemoryRequest request =
      decoder_request(cpu_, folder_step_.step, folder_step_.limits, {.sequences = 2}, "the model");
  backends::Device device{.backend = "cpu", .name = "cpu"};
  device.total_bytes = 1024 * kMiB;
  device.free_bytes = request.smaller.back().bytes;
  const std::optional<std::string> refusal = check_fits(request, device);
  ASSERT_TRUE(refusal);
  EXPECT_NE(refusal->find("the model on cpu with 2 texts in a context of 512 tokens needs "), std::string::npos)
      << *refusal;
  EXPECT_NE(refusal->find("KV cache "), std::string::npos) << *refusal;
  EXPECT_NE(refusal->find("what fits: --context 128"), std::string::npos) << *refusal;
}

TEST_F(StepMemory, BoundsTheCacheByTheFreeMemory) {
  const models::CacheLayout layout = {{.name = "key", .dtype = DType::f32, .row = {2, 128}}};  // 32 KiB a page
  models::EncoderLimits limits = folder_step_.limits;
  limits.positions = 4096;
  // Three quarters of what weights and a step leave.
  const CacheBound some = bound_for(20 * kMiB, 12 * kMiB, layout, limits);
  EXPECT_EQ(some.pages, 6 * kMiB / (32 * 1024));
  EXPECT_EQ(some.context, 4096U);
  const CacheBound few = bound_for(14 * kMiB, 12 * kMiB, layout, limits);
  EXPECT_EQ(few.pages, 48U);
  EXPECT_EQ(few.context, 48U * 32U);
  EXPECT_EQ(bound_for(10 * kMiB, 12 * kMiB, layout, limits).pages, 0U);
  // Unknown, or plenty: some texts of the whole context.
  EXPECT_EQ(bound_for(0, 12 * kMiB, layout, limits).pages, 64U * 128U);
  EXPECT_EQ(bound_for(std::size_t{1} << 40, 0, layout, limits).pages, 64U * 128U);
  limits.positions = std::int64_t{1} << 60;
  EXPECT_LT(bound_for(0, 0, layout, limits).pages, std::size_t{1} << 27);
}

TEST_F(StepMemory, BoundsTheCacheByWhatItMayTake) {
  const models::CacheLayout layout = {{.name = "key", .dtype = DType::f32, .row = {2, 128}}};  // 32 KiB a page
  models::EncoderLimits limits = folder_step_.limits;
  limits.positions = 4096;
  const CacheBound all = bound_for(0, 0, layout, limits);
  EXPECT_EQ(cache_bytes(all, layout), all.pages * 32 * 1024);
  EXPECT_EQ(within_bytes(all, layout, limits, {.model = "it"}).pages, all.pages);
  const CacheBound some = within_bytes(all, layout, limits, {.model = "it", .most_bytes = kMiB});
  EXPECT_EQ(some.pages, 32U);
  EXPECT_EQ(some.context, 32U * 32U);
  const Error error =
      base::error_of([&] { within_bytes(all, layout, limits, {.model = "it", .most_bytes = kMiB / 4}); });
  EXPECT_EQ(error.code(), ErrorCode::resource_exhausted);
  EXPECT_NE(error.message().find("512 tokens take 1 MB with it"), std::string::npos) << error.message();
}

TEST_F(StepMemory, OfALoadedModelIsBounded) {
  EXPECT_EQ(program_->bound().context, kPositions);
  EXPECT_GE(program_->bound().pages, StepProgram::pages_of(kPositions));
}

}  // namespace
}  // namespace alate::runtime
