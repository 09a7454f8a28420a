// The types of ggml's tensors, as GGUF files number them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "alate/tensor.h"
#include "tensor/encoding.h"

namespace alate::formats {

/// Numbers and sizes: enum ggml_type and the block structures of https://github.com/ggml-org/ggml.
struct GgmlType {
  std::uint32_t number;
  std::string_view name;         // as ggml writes it: "q4_K"
  std::uint32_t block_elements;  // 1 for plain elements
  std::uint32_t block_bytes;
  DType dtype;                                   // of plain elements; invalid for blocks
  std::optional<tensor::EncodingKind> encoding;  // of blocks that can be dequantized
};

/// The row for a number in a file; null if ggml has no such type (any more).
const GgmlType* find_ggml_type(std::uint32_t number);
/// The row for a name, in any case of letters.
const GgmlType* find_ggml_type(std::string_view name);

}  // namespace alate::formats
