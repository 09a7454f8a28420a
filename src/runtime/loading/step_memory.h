// The memory of decoders: estimates of it, and how large a cache the machine holds.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "alate/memory.h"
#include "backends/backend.h"
#include "runtime/loading/memory_estimate.h"
#include "runtime/loading/model_form.h"
#include "runtime/loading/step_program.h"

namespace alate::runtime {

/// What a decoder's memory is estimated for.
struct StepSize {
  std::size_t context = 0;    // tokens of each sequence; 0: the model's limit
  std::size_t sequences = 1;  // at the same time
};

/// The memory that the step takes on the backend: weights, the cache of all sequences, and what a step of a prompt
/// takes beside them. Throws invalid_argument for a context longer than the model's.
ModelMemory decoder_memory(const backends::Backend& backend, const BuiltStep& step, const models::EncoderLimits& limits,
                           const StepSize& size);

/// The memory that a load asks for, with shorter contexts and fewer sequences as alternatives. `model` is its name in
/// messages.
MemoryRequest decoder_request(const backends::Backend& backend, const BuiltStep& step,
                              const models::EncoderLimits& limits, const StepSize& size, const std::string& model);

/// The most pages of a cache on a device with so many free bytes, 0 if that is unknown, of which weights and a step
/// take `taken`. A part stays free for everything else.
CacheBound bound_for(std::size_t free_bytes, std::uint64_t taken, const models::CacheLayout& layout,
                     const models::EncoderLimits& limits);

/// The cache of all sequences that a bound allows, in bytes.
std::uint64_t cache_bytes(const CacheBound& bound, const models::CacheLayout& layout);

/// Of a load.
struct CacheWish {
  std::string model;             // its name in messages
  std::uint64_t most_bytes = 0;  // that the cache may take; 0: what memory holds
};
/// The same for the backend's device of this index, in digits; empty: its first usable one. Call before the step is
/// compiled for it. Throws resource_exhausted, with the figures, if not even one sequence of 512 tokens, or of the
/// model's limit, fits.
CacheBound bound_cache(backends::Backend& backend, std::string_view device_index, const BuiltStep& step,
                       const models::EncoderLimits& limits, const CacheWish& wish);
/// At most so many bytes of a bound. Throws as bound_cache.
CacheBound within_bytes(CacheBound bound, const models::CacheLayout& layout, const models::EncoderLimits& limits,
                        const CacheWish& wish);

/// A model folder's step, for estimates: nothing is compiled.
struct FolderStep {
  BuiltStep step;
  models::EncoderLimits limits;
  std::string dtype;  // in which it computes
};
/// `dtype` is as in LoadOptions. Throws as Model::load, and unsupported for a model that is no decoder.
FolderStep step_of_folder(const std::filesystem::path& folder, ComputeType dtype = ComputeType::as_stored);

}  // namespace alate::runtime
