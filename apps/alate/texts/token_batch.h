// Encodings as the named tensors that `alate forward` and transformers take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "alate/tokenizer.h"
#include "formats/named_tensor.h"

namespace alate::app {

/// Rows of token ids, of different lengths until they become tensors.
class TokenBatch {
 public:
  /// `padding` says with what and at which side shorter rows are filled, and to what lengths at least.
  explicit TokenBatch(const Padding& padding) : padding_(padding) {}

  /// A row for the encoding, and one for each of its further windows. Throws resource_exhausted if the tensors would
  /// have more than 2^28 elements each.
  void add(const Encoding& encoding);

  /// input_ids, attention_mask and token_type_ids, i64[rows, longest row].
  std::vector<formats::NamedTensor> tensors();

 private:
  void add_row(const Encoding& encoding);

  Padding padding_;
  std::vector<Encoding> rows_;  // only their ids, type ids and masks
  std::size_t longest_ = 0;
};

}  // namespace alate::app
