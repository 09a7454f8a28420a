// The header of a safetensors file: its tensors and the locations of their bytes.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alate/tensor.h"

namespace alate::formats {

/// The reference implementation's limit.
inline constexpr std::size_t kMaxSafetensorsHeaderBytes = 100'000'000;

struct TensorEntry {
  std::string name;
  Shape shape;
  std::size_t begin = 0, end = 0;  // byte range in the file
};

struct SafetensorsHeader {
  std::vector<TensorEntry> entries;             // in byte order
  std::map<std::string, std::string> metadata;  // "__metadata__"
  std::size_t byte_count = 0;                   // of the length field and the header: the offset of the tensors' bytes
};

/// Parses the header of a complete file. The entries' ranges cover the file to its last byte without gaps or overlaps,
/// and each range has the length that its shape and type require. Throws corrupt with `what` (the file's name) and the
/// reason, or unsupported for a type that Alate lacks.
SafetensorsHeader parse_safetensors_header(std::span<const std::byte> file, std::string_view what);

}  // namespace alate::formats
