// What rows have beside their tokens, and how it becomes parameters of a graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "alate/tensor.h"
#include "graph/builder.h"

namespace alate::models {

struct EncoderInputs;

/// What a row has beside its tokens, such as the places of its words, in the order of the program's RowInputs.
using RowParts = std::vector<Tensor>;

/// Fewer tokens than these cost a run as much.
inline constexpr std::int64_t kFewestTokens = 16;

/// A dim of parameters that says how many of something a batch has.
struct CountedDim {
  Dim dim;
  /// How many a row has; null: it does not add up over rows, such as the length of the longest.
  std::size_t (*of_row)(std::size_t tokens, const RowParts& parts) = nullptr;
  /// Fewer are rounded up to it by backends that compile for each extent, if the dim is paddable.
  std::int64_t fewest = 1;
};

/// Parameters that a head takes beside the tokens. Immutable; thread-safe.
class RowInputs {
 public:
  virtual ~RowInputs() = default;
  RowInputs(const RowInputs&) = delete;
  RowInputs& operator=(const RowInputs&) = delete;

  /// Declares them after all others.
  virtual void declare(graph::Builder& b, EncoderInputs& inputs) const = 0;
  /// The dims that they have.
  virtual std::vector<CountedDim> dims(const EncoderInputs& inputs) const = 0;
  /// Their values, in the order of `declare`, for rows of `lengths` tokens. Throws invalid_argument for rows whose
  /// parts are not those that it takes, resource_exhausted for a batch with too much of them.
  virtual std::vector<Tensor> pack(std::span<const std::int32_t> lengths,
                                   std::span<const RowParts* const> rows) const = 0;
  /// Parts that a row of one token may have.
  virtual RowParts example() const = 0;

 protected:
  RowInputs() = default;
};

}  // namespace alate::models
