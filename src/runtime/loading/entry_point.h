// What a loaded model can compute: a compiled program, and the makers of its inputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "alate/model.h"
#include "backends/backend.h"
#include "formats/weight_source.h"
#include "models/encoder.h"
#include "runtime/batching/batch_parts.h"
#include "runtime/batching/batch_program.h"
#include "runtime/batching/packing.h"
#include "runtime/batching/rounding.h"
#include "runtime/loading/row_extent.h"

namespace alate::runtime {

/// Makes inputs of an entry point from a batch of rows. Thread-safe.
class Feeder {
 public:
  virtual ~Feeder() = default;
  Feeder(const Feeder&) = delete;
  Feeder& operator=(const Feeder&) = delete;

  /// Appends the values of its inputs, in the executable's order. Throws as EntryPoint::run.
  virtual void feed(const PackedTokens& tokens, const PackingOptions& options, const backends::RunOptions& run_options,
                    std::vector<backends::Buffer>& inputs) const = 0;
  /// Bytes of weights that it holds itself.
  virtual std::size_t weight_bytes() const { return 0; }

 protected:
  Feeder() = default;
};
using Feeders = std::vector<std::unique_ptr<const Feeder>>;

/// The inputs of `models::declare_encoder_inputs`: `pack`.
std::unique_ptr<const Feeder> feed_packed_tokens(const models::EncoderLimits& limits,
                                                 models::TokenPlaces places = models::TokenPlaces::consecutive);
/// Those that `kind` declares, which must live as long, from the rows' parts.
std::unique_ptr<const Feeder> feed_parts(const models::RowInputs& kind);

/// A computation over rows of tokens. Thread-safe.
class EntryPoint final : public BatchProgram {
 public:
  /// The inputs of `executable` are those of the feeders, in their order. `counted` has the dims that count what is in
  /// a batch, its tokens first, `dims` the forms over them in which the extents of outputs are given. The executable
  /// reads `weights`, which may be mapped files, while it runs; null: it reads none. `reads_first`: whether an output
  /// depends on models::EncoderInputs::first.
  EntryPoint(std::unique_ptr<backends::Executable> executable, Feeders feeders,
             std::span<const models::CountedDim> counted, const graph::DimTable& dims, Rounding rounding = {},
             std::shared_ptr<const formats::WeightSource> weights = nullptr, bool reads_first = true);

  /// The outputs that it was built with, float32: [tokens, …], [sequences, …] or another extent that adds up over the
  /// rows of a batch. Rows without tokens give zeros where an output has something for them. Throws invalid_argument
  /// for ids, types and positions that the model does not have, cancelled, and corrupt when a file that it reads was
  /// truncated or changed.
  std::vector<Tensor> run(const PackedTokens& tokens, const PackingOptions& options,
                          const backends::RunOptions& run_options) const;
  /// As `run`. Throws internal if an output is of no row.
  Tensor run_rows(std::span<const BatchRow* const> rows, const backends::RunOptions& run_options) const override;
  std::size_t width(const BatchRow& row) const override;
  /// Of output `i` by itself: run_rows has a row's numbers of output 0, then those of output 1, and so on.
  std::size_t width(std::size_t i, std::size_t tokens, const models::RowParts& parts = {}) const;
  /// Of output `i`, for each unit of its first extent: for each token, say.
  std::size_t numbers(std::size_t i) const;
  /// Of all outputs whose first extent is the tokens, and of all others.
  std::size_t numbers_per_token() const;
  std::size_t numbers_per_row() const;

  std::span<const backends::Port> outputs() const { return executable_->outputs(); }
  bool is_per_token(std::size_t i) const { return extents_[i].is_tokens(); }
  bool reads_first() const { return reads_first_; }
  backends::BatchHint batch_hint() const { return executable_->batch_hint(); }
  backends::ExecutableFacts facts() const;

 private:
  std::vector<Tensor> run_whole(const PackedTokens& tokens, const PackingOptions& options,
                                const backends::RunOptions& run_options) const;
  std::vector<Tensor> run_parts(std::span<const BatchPart> parts, std::size_t workers, const PackedTokens& tokens,
                                const PackingOptions& options, const backends::RunOptions& run_options) const;
  // How many units output `i` has before each sequence's own, and in all.
  std::vector<std::size_t> row_starts(std::size_t i, const PackedTokens& tokens, const PackingOptions& options) const;
  // A tensor for all rows of output `i`.
  Tensor make_output(std::size_t i, const PackedTokens& tokens, const PackingOptions& options, bool is_zero) const;

  std::unique_ptr<backends::Executable> executable_;
  Feeders feeders_;
  std::vector<RowExtent> extents_;  // of the outputs
  bool grow_with_rows_;             // all of them
  Rounding rounding_;               // empty where new extents cost the backend nothing
  std::shared_ptr<const formats::WeightSource> weights_;
  bool reads_first_;
};

/// Calls `read`, which reads the files of `weights` (null: none). If one was truncated meanwhile, throws that as the
/// error, even if `read` failed over the zeros read instead.
void with_unchanged_files(const formats::WeightSource* weights, const std::function<void()>& read);

}  // namespace alate::runtime
