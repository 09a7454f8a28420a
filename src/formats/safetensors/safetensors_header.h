// The head of a safetensors file: which tensors it holds and where their bytes are.
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
  std::size_t begin = 0, end = 0;  // bytes of the file
};

struct SafetensorsHeader {
  std::vector<TensorEntry> entries;             // in the order of their bytes
  std::map<std::string, std::string> metadata;  // "__metadata__"
  std::size_t byte_count = 0;                   // of the length and the header: where the tensors' bytes begin
};

/// Reads the head of a whole file. What comes back covers the file: the entries' ranges follow one another without gap
/// or overlap to its last byte, and each is as long as its shape and type ask.
/// Throws corrupt with `what` (the file's name) and what is wrong, or unsupported for a type that we do not have.
SafetensorsHeader parse_safetensors_header(std::span<const std::byte> file, std::string_view what);

}  // namespace alate::formats
