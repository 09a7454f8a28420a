// The best tokens for masks, batch by batch: the encoder over all tokens, the head over the vocabulary only over masks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/batching/batch_program.h"
#include "runtime/loading/entry_point.h"
#include "runtime/loading/head_program.h"

namespace alate::pipelines {

/// A token with its probability.
struct ScoredToken {
  std::int32_t id = 0;
  float score = 0;
};

/// The `count` best entries of `scores`, the best first; of equal ones the first. NaN is none.
std::vector<ScoredToken> best_tokens(std::span<const float> scores, std::size_t count);

/// A row's numbers are, for each of its masks, `count` pairs of a token's id and its probability, the best first; -1
/// where there are fewer tokens. Thread-safe.
class FillProgram final : public runtime::BatchProgram {
 public:
  /// `encoder` gives hidden states of tokens, `head` probabilities over the vocabulary. `targets` are the ids that are
  /// scored; empty: all.
  FillProgram(std::shared_ptr<const runtime::EntryPoint> encoder, std::shared_ptr<const runtime::HeadProgram> head,
              std::int32_t mask_id, std::size_t count, std::vector<std::int32_t> targets = {});

  std::size_t width(const runtime::BatchRow& row) const override;
  Tensor run_rows(std::span<const runtime::BatchRow* const> rows, const backends::RunOptions& options) const override;

  /// A row's numbers by mask.
  std::vector<std::vector<ScoredToken>> read(std::span<const float> numbers) const;

 private:
  void write_best(std::span<const float> probabilities, std::span<float> to) const;

  std::shared_ptr<const runtime::EntryPoint> encoder_;
  std::shared_ptr<const runtime::HeadProgram> head_;
  std::int32_t mask_id_;
  std::size_t count_;
  std::vector<std::int32_t> targets_;
};

}  // namespace alate::pipelines
