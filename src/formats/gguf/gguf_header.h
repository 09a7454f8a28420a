// The header of a GGUF file: its metadata, and its tensors with the locations of their bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/gguf/gguf_types.h"
#include "formats/gguf/gguf_value.h"

namespace alate::formats {

/// Largest part of a file that may be header, and the most entries in it.
inline constexpr std::size_t kMaxGgufHeaderBytes = std::size_t{1} << 30;
inline constexpr std::size_t kMaxGgufEntries = std::size_t{1} << 20;

struct GgufTensor {
  std::string_view name;
  /// Extents in row-major order, the last one contiguous: the reverse of the file's order.
  std::vector<std::int64_t> dims;
  const GgmlType* type = nullptr;
  std::size_t begin = 0, end = 0;  // byte range in the file
};

/// Views into the file's bytes; immutable; thread-safe.
class GgufHeader {
 public:
  std::uint32_t version = 0;
  std::vector<std::pair<std::string_view, GgufValue>> metadata;  // in the file's order
  std::vector<GgufTensor> tensors;                               // in the order of their bytes
  std::size_t alignment = 32;                                    // of the tensors' bytes
  std::size_t data_begin = 0;                                    // where the tensors' bytes begin

  /// Null if there is no such entry.
  const GgufValue* find(std::string_view key) const;
  const GgufTensor* find_tensor(std::string_view name) const;

  // Indices sorted by name; filled by parse_gguf_header.
  std::vector<std::uint32_t> metadata_by_key, tensors_by_name;
};

/// Whether bytes begin as a GGUF file does.
bool is_gguf(std::span<const std::byte> file);

/// Parses versions 2 and 3. Every value is checked against the file, names are unique and UTF-8, tensors are aligned,
/// lie inside the file and do not overlap. Throws corrupt with `what` (the file's name) and the reason; unsupported for
/// big-endian files, version 1 and tensor types that this version does not know, naming what to do; resource_exhausted
/// over a limit. Of a file that is one of several (split.count), it is this file's part.
GgufHeader parse_gguf_header(std::span<const std::byte> file, std::string_view what);

}  // namespace alate::formats
