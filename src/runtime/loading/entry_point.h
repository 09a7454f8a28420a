// What a loaded model can compute: a compiled graph, and the makers of its inputs.
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
#include "runtime/batching/word_packing.h"

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
/// The inputs of `models::declare_word_inputs`: `pack_words`.
std::unique_ptr<const Feeder> feed_words(WordTasks tasks);

/// What the rows of an output are.
enum class OutputRows : std::uint8_t { tokens, sequences, pairs, marks };

/// A computation over rows of tokens. Thread-safe.
class EntryPoint final : public BatchProgram {
 public:
  /// The inputs of `executable` are those of the feeders, in their order. `inputs` has the dims that count the tokens
  /// of a batch and, where there are such, its pairs of words and labels, and its marks. The executable reads
  /// `weights`, which may be mapped files, while it runs; null: it reads none. `reads_first`: whether an output depends
  /// on models::EncoderInputs::first.
  EntryPoint(std::unique_ptr<backends::Executable> executable, Feeders feeders, const models::EncoderInputs& inputs,
             Rounding rounding = {}, std::shared_ptr<const formats::WeightSource> weights = nullptr,
             bool reads_first = true);

  /// The outputs that it was built with: [tokens, …], [sequences, …], [pairs, …] or [marks, …] float32. An empty batch
  /// gives empty results where rows are tokens, and zeros where they are sequences. Throws invalid_argument for ids,
  /// types and positions that the model does not have, cancelled, and corrupt when a file that it reads was truncated
  /// or changed.
  std::vector<Tensor> run(const PackedTokens& tokens, const PackingOptions& options,
                          const backends::RunOptions& run_options) const;
  /// As `run`.
  Tensor run_rows(std::span<const BatchRow* const> rows, const backends::RunOptions& run_options) const override;
  RowWidth width() const override;
  /// Of output `i` by itself: run_rows has a row's numbers of output 0, then those of output 1, and so on.
  RowWidth width(std::size_t i) const;

  std::span<const backends::Port> outputs() const { return executable_->outputs(); }
  OutputRows rows_of(std::size_t i) const;
  bool is_per_token(std::size_t i) const { return rows_of(i) == OutputRows::tokens; }
  bool reads_first() const { return reads_first_; }
  backends::BatchHint batch_hint() const { return executable_->batch_hint(); }
  backends::ExecutableFacts facts() const;

 private:
  std::vector<Tensor> run_whole(const PackedTokens& tokens, const PackingOptions& options,
                                const backends::RunOptions& run_options) const;
  std::vector<Tensor> run_parts(std::span<const BatchPart> parts, std::size_t workers, const PackedTokens& tokens,
                                const PackingOptions& options, const backends::RunOptions& run_options) const;
  // A tensor for all rows of output `i`.
  Tensor make_output(std::size_t i, const PackedTokens& tokens, const PackingOptions& options, bool is_zero) const;

  std::unique_ptr<backends::Executable> executable_;
  Feeders feeders_;
  Dim tokens_dim_;
  std::optional<Dim> pairs_dim_, marks_dim_;
  Rounding rounding_;  // empty where new extents cost the backend nothing
  std::shared_ptr<const formats::WeightSource> weights_;
  bool reads_first_;
};

/// Calls `read`, which reads the files of `weights` (null: none). If one was truncated meanwhile, throws that as the
/// error, even if `read` failed over the zeros read instead.
void with_unchanged_files(const formats::WeightSource* weights, const std::function<void()>& read);

}  // namespace alate::runtime
