// A head by itself, over rows of hidden states that the caller has chosen.
#pragma once

#include <cstddef>
#include <memory>

#include "alate/tensor.h"
#include "backends/backend.h"
#include "formats/weight_source.h"
#include "runtime/batching/rounding.h"

namespace alate::runtime {

/// Thread-safe.
class HeadProgram {
 public:
  /// `executable` has one input, [rows, hidden size]. It reads `weights`, which may be mapped files, while it runs.
  HeadProgram(std::unique_ptr<backends::Executable> executable, Rounding rounding,
              std::shared_ptr<const formats::WeightSource> weights);

  /// The first output for rows of hidden states, at least one: f32. Throws as EntryPoint::run.
  Tensor run(Tensor hidden, const backends::RunOptions& options) const;
  /// Numbers of the output for a row.
  std::size_t width() const;

 private:
  std::unique_ptr<backends::Executable> executable_;
  Rounding rounding_;  // empty where new extents cost the backend nothing
  std::shared_ptr<const formats::WeightSource> weights_;
};

}  // namespace alate::runtime
