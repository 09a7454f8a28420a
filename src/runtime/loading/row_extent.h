// How many units an output of an entry point has for a row.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "alate/tensor.h"
#include "graph/dims.h"
#include "models/inputs/row_inputs.h"

namespace alate::runtime {

/// How the first extent of an output follows from what a row has: a sum over its dims, each of which counts something.
/// Or it is no row's: a number, such as the rows of a table.
class RowExtent {
 public:
  /// Throws internal for an extent that is neither a number nor a sum over dims that `counted` has for each row. Its
  /// first dim counts the tokens.
  RowExtent(const Shape& output, std::span<const models::CountedDim> counted, const graph::DimTable& dims);

  /// For a row of so many tokens, with these parts.
  std::size_t of(std::size_t tokens, const models::RowParts& parts) const;
  /// Whether it is the number of tokens.
  bool is_tokens() const { return is_tokens_; }
  bool grows_with_rows() const { return !terms_.empty(); }

 private:
  struct Term {
    std::size_t factor;
    std::size_t (*count)(std::size_t tokens, const models::RowParts& parts);
  };
  std::vector<Term> terms_;
  bool is_tokens_ = false;
};

}  // namespace alate::runtime
