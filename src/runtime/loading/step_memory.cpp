#include "runtime/loading/step_memory.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "base/log.h"
#include "runtime/loading/load_watch.h"
#include "runtime/loading/loaded_model.h"

namespace alate::runtime {
namespace {

// Of a prompt, in a step (StepLoopOptions::max_tokens).
constexpr std::size_t kStepTokens = 512;
// The shortest context with which a model is worth loading.
constexpr std::size_t kLeastContext = 512;
// Sequences of the whole context for which the cache may grow, if there is memory.
constexpr std::size_t kMostSequences = 64;
// Where tokens are written is counted in 32 bits.
constexpr std::size_t kMostPages = (std::size_t{1} << 31) / static_cast<std::size_t>(kPageRows) - 1;

std::size_t positions_of(const models::EncoderLimits& limits) {
  return static_cast<std::size_t>(std::max<std::int64_t>(limits.positions, 1));
}

StepSize checked(const models::EncoderLimits& limits, const StepSize& size) {
  const std::size_t most = positions_of(limits), context = size.context == 0 ? most : size.context;
  if (context > most)
    throw make_error(ErrorCode::invalid_argument, "a context of ", context, " tokens is longer than the ", most,
                     " that the model has");
  return {.context = context, .sequences = std::max<std::size_t>(size.sequences, 1)};
}

std::size_t pages_of(const StepSize& size) { return size.sequences * StepProgram::pages_of(size.context); }

std::uint64_t page_bytes(const models::CacheLayout& layout) {
  return models::bytes_per_token(layout) * static_cast<std::uint64_t>(kPageRows);
}

backends::DimSettings settings_of(const StepSize& size) {
  const auto number = [](std::size_t value) { return static_cast<std::int64_t>(value); };
  const std::int64_t tokens = number(std::max(std::min(size.context, kStepTokens), size.sequences));
  return {{"tokens", tokens},
          {"sequences", number(size.sequences)},
          {"longest", std::min(tokens, number(size.context))},
          {"pages", number(pages_of(size))},
          {"most_pages", number(StepProgram::pages_of(size.context))},
          {"asked_tokens", number(size.sequences)}};
}

ModelMemory memory_of(const backends::Backend& backend, const BuiltStep& step, const StepSize& size,
                      const backends::MemoryNeeds& needs) {
  const std::uint64_t cache = pages_of(size) * page_bytes(step.layout);
  const std::uint64_t both = needs.inputs + needs.outputs;
  return {.backend = std::string(backend.name()),
          .dtype = "float32",
          .batch_size = size.sequences,
          .rows_at_once = size.sequences,
          .max_length = size.context,
          .mapped_weights = needs.mapped_weights,
          .owned_weights = needs.owned_weights,
          .kv_cache = cache,
          .activations = needs.activations,
          .inputs_and_outputs = both - std::min(both, cache)};
}

std::string in_words(std::size_t count, std::string_view thing) {
  return std::to_string(count) + " " + std::string(thing) + (count == 1 ? "" : "s");
}

// Fewer sequences, then shorter ones.
std::vector<StepSize> smaller_sizes(const StepSize& size) {
  std::vector<StepSize> sizes;
  for (std::size_t sequences = size.sequences / 2; sequences >= 1; sequences /= 2)
    sizes.push_back({.context = size.context, .sequences = sequences});
  for (std::size_t context = size.context / 2; context >= 128; context /= 2)
    sizes.push_back({.context = context, .sequences = 1});
  return sizes;
}

// What weights and a step take, without the backend's passes: at least as much as with them.
std::uint64_t taken_at_most(const BuiltStep& step, const StepSize& size) {
  const backends::MemoryNeeds needs =
      backends::needs_by_lifetimes(*step.graph, backends::dim_values(*step.graph, settings_of(size)));
  return needs.owned_weights + needs.activations;
}

}  // namespace

ModelMemory decoder_memory(const backends::Backend& backend, const BuiltStep& step, const models::EncoderLimits& limits,
                           const StepSize& given) {
  const StepSize size = checked(limits, given);
  const std::array settings = {settings_of(size)};
  return memory_of(backend, step, size, backend.memory_needs(*step.graph, settings).front());
}

MemoryRequest decoder_request(const backends::Backend& backend, const BuiltStep& step,
                              const models::EncoderLimits& limits, const StepSize& given, const std::string& model) {
  const StepSize size = checked(limits, given);
  std::vector<StepSize> sizes = smaller_sizes(size);
  sizes.insert(sizes.begin(), size);
  std::vector<backends::DimSettings> settings;
  for (const StepSize& each : sizes) settings.push_back(settings_of(each));
  const std::vector<backends::MemoryNeeds> needs = backend.memory_needs(*step.graph, settings);
  const ModelMemory memory = memory_of(backend, step, size, needs.front());
  MemoryRequest request;
  request.what = model + " on " + memory.backend + " with " + in_words(size.sequences, "text") + " in a context of " +
                 in_words(size.context, "token");
  request.parts = {{"weights", memory.mapped_weights + memory.owned_weights},
                   {"KV cache", memory.kv_cache},
                   {"activations", memory.activations},
                   {"inputs and outputs", memory.inputs_and_outputs}};
  for (std::size_t i = 1; i < sizes.size(); ++i) {
    const bool is_shorter = sizes[i].context != size.context;
    const std::string change = is_shorter ? "--context " + std::to_string(sizes[i].context)
                                          : "--batch-size " + std::to_string(sizes[i].sequences);
    request.smaller.push_back({.kind = is_shorter ? "shorter context" : "fewer texts",
                               .change = change,
                               .bytes = memory_of(backend, step, sizes[i], needs[i]).total()});
  }
  return request;
}

CacheBound bound_for(std::size_t free_bytes, std::uint64_t taken, const models::CacheLayout& layout,
                     const models::EncoderLimits& limits) {
  const std::size_t positions = positions_of(limits);
  std::size_t pages = std::min(kMostSequences * StepProgram::pages_of(positions), kMostPages);
  const std::uint64_t page = std::max<std::uint64_t>(page_bytes(layout), 1);
  if (free_bytes > 0) {
    const std::uint64_t room = free_bytes - std::min<std::uint64_t>(free_bytes, taken);
    pages = static_cast<std::size_t>(std::min<std::uint64_t>(pages, room / 4 * 3 / page));
  }
  return {.pages = pages, .context = std::min(positions, pages * static_cast<std::size_t>(kPageRows))};
}

namespace {

CacheBound bound_by_memory(backends::Backend& backend, std::string_view device_index, const BuiltStep& step,
                           const models::EncoderLimits& limits, const std::string& model) {
  std::size_t free_bytes = 0;
  std::optional<backends::Device> meant;
  for (const backends::Device& device : backend.devices()) {
    const bool is_meant = device_index.empty() || std::to_string(device.index) == device_index;
    if (!is_meant || device.unusable || meant) continue;
    meant = device;
    if (device.total_bytes > 0) free_bytes = std::max<std::size_t>(device.free_bytes, 1);
  }
  const std::size_t positions = positions_of(limits);
  const StepSize whole{.context = positions}, least{.context = std::min(positions, kLeastContext)};
  CacheBound bound = bound_for(free_bytes, taken_at_most(step, whole), step.layout, limits);
  if (free_bytes == 0 || bound.context == positions) return bound;
  // Memory is short: as the backend counts it, which copies fewer weights.
  try {
    const ModelMemory memory = decoder_memory(backend, step, limits, least);
    bound = bound_for(free_bytes, memory.total() - memory.kv_cache, step.layout, limits);
    if (bound.context >= least.context) return bound;
    const MemoryRequest request = decoder_request(backend, step, limits, least, model);
    if (const std::optional<std::string> refusal = check_fits(request, *meant))
      throw Error(ErrorCode::resource_exhausted, *refusal);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::resource_exhausted) throw;
    base::log(base::LogLevel::debug, "memory not estimated", {{"model", model}, {"error", error.what()}});
  }
  bound.pages = std::max(bound.pages, StepProgram::pages_of(least.context));
  bound.context = std::max(bound.context, least.context);
  return bound;
}

}  // namespace

std::uint64_t cache_bytes(const CacheBound& bound, const models::CacheLayout& layout) {
  return bound.pages * page_bytes(layout);
}

CacheBound within_bytes(CacheBound bound, const models::CacheLayout& layout, const models::EncoderLimits& limits,
                        const CacheWish& wish) {
  constexpr std::uint64_t kMegabyte = std::uint64_t{1} << 20;
  if (wish.most_bytes == 0 || cache_bytes(bound, layout) <= wish.most_bytes) return bound;
  const std::uint64_t page = page_bytes(layout);
  const std::size_t least = std::min({positions_of(limits), kLeastContext, bound.context});
  const std::size_t least_pages = StepProgram::pages_of(least);
  bound.pages = static_cast<std::size_t>(wish.most_bytes / page);
  if (bound.pages < least_pages)
    throw make_error(ErrorCode::resource_exhausted, "the keys and values of a text of ", least, " tokens take ",
                     (least_pages * page + kMegabyte - 1) / kMegabyte, " MB with ", wish.model, ", and ",
                     wish.most_bytes / kMegabyte, " MB are left for them: allow more, or choose a smaller model");
  bound.context = std::min(bound.context, bound.pages * static_cast<std::size_t>(kPageRows));
  return bound;
}

CacheBound bound_cache(backends::Backend& backend, std::string_view device_index, const BuiltStep& step,
                       const models::EncoderLimits& limits, const CacheWish& wish) {
  return within_bytes(bound_by_memory(backend, device_index, step, limits, wish.model), step.layout, limits, wish);
}

FolderStep step_of_folder(const std::filesystem::path& folder, ComputeType dtype) {
  LoadWatch watch;
  LoadOptions options;
  options.dtype = dtype;
  const std::shared_ptr<Model::State> model = Model::State::read(folder, options, watch);
  return {.step = model->form->build_step(*model, base::Cancellation::never()),
          .limits = model->limits(),
          .dtype = model->form->dtype()};
}

}  // namespace alate::runtime
