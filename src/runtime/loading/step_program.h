// The entry point "step": the next token of sequences whose earlier tokens are in the pages of a cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "alate/tensor.h"
#include "backends/backend.h"
#include "formats/weight_source.h"
#include "models/encoder.h"
#include "models/inputs/page_inputs.h"
#include "runtime/batching/rounding.h"

namespace alate::runtime {

/// Tokens of a page, by which memory is given out and shared. A step reads the table once for so many keys.
inline constexpr std::int64_t kPageRows = 32;

/// A sequence of a step: its tokens [cached, cached + ids.size()) are computed.
struct StepSequence {
  std::span<const std::int32_t> ids;    // at least one
  std::size_t cached = 0;               // how many earlier tokens are in the cache
  std::span<const std::int32_t> pages;  // of the cache, for all its tokens, in order; no other sequence writes to those
                                        // that it writes to
  std::size_t text = 0;                 // tokens of the whole text, where later steps compute more of it; else 0
  std::size_t asked = 1;                // of how many of the last tokens the logits are computed
};

/// The keys and values of `pages` pages. One step at a time may use it.
struct CachePages {
  std::int64_t pages = 0;
  std::vector<Tensor> tensors = {};  // by the layout
};

/// What a decoder's memory is for.
struct CacheBound {
  std::size_t pages = 0;    // at most, of all sequences
  std::size_t context = 0;  // tokens of the longest sequence: the model's positions, or what so many pages hold
};

/// Thread-safe.
class StepProgram {
 public:
  /// `executable` has the inputs of declare_encoder_inputs, declare_page_inputs and `layout`; its outputs are the
  /// logits and `layout`. It reads `weights`, which may be mapped files, while it runs.
  StepProgram(std::unique_ptr<backends::Executable> executable, models::CacheLayout layout,
              const models::EncoderLimits& limits, Rounding rounding,
              std::shared_ptr<const formats::WeightSource> weights, CacheBound bound);

  const models::CacheLayout& layout() const { return layout_; }
  const models::EncoderLimits& limits() const { return limits_; }
  /// What the machine's memory held when the model was loaded.
  const CacheBound& bound() const { return bound_; }
  /// Pages for so many tokens of a sequence.
  static std::size_t pages_of(std::size_t tokens);
  /// Its values are undefined. Throws resource_exhausted, and unsupported where each step would copy more than
  /// backends::kMostCopiedBytes of it.
  CachePages make_cache(std::size_t pages) const;

  /// The logits [asked tokens of all sequences, vocabulary], f32, of the tokens that follow. The tokens' keys and
  /// values are written to the cache, without a copy of it where the backend writes in place (`facts`). The same
  /// numbers whoever else is in the batch, and however a sequence was cut into steps, on backends that promise so.
  /// Throws invalid_argument for ids that the model does not have, more tokens than its positions, and pages that do
  /// not hold the tokens or are not in the cache; cancelled, and corrupt when a weights' file changed. After an error
  /// the pages that the sequences write to are undefined.
  Tensor run(std::span<const StepSequence> sequences, CachePages& cache, const backends::RunOptions& options) const;

  backends::ExecutableFacts facts() const { return executable_->facts(); }
  backends::BatchHint batch_hint() const { return executable_->batch_hint(); }

 private:
  std::unique_ptr<backends::Executable> executable_;
  models::CacheLayout layout_;
  models::EncoderLimits limits_;
  Rounding rounding_;  // empty where new extents cost the backend nothing
  std::shared_ptr<const formats::WeightSource> weights_;
  CacheBound bound_;
};

}  // namespace alate::runtime
