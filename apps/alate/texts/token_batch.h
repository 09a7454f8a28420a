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
  /// A row for the encoding, and one for each of its further windows. Throws resource_exhausted if the tensors would
  /// have more than 2^28 elements each.
  void add(const Encoding& encoding);

  /// input_ids, attention_mask and token_type_ids, i64[rows, longest row]; shorter rows end with zeros.
  std::vector<formats::NamedTensor> tensors() const;

 private:
  void add_row(const Encoding& encoding);

  std::vector<std::vector<std::int32_t>> ids_, types_;
  std::size_t longest_ = 0;
};

}  // namespace alate::app
