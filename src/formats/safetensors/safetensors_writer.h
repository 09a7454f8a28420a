// Writing of safetensors files, byte-identical to the reference implementation for the same tensors.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alate/tensor.h"
#include "base/files/atomic_file.h"
#include "formats/named_tensor.h"

namespace alate::formats {

/// The bytes of a file: tensors by descending alignment of their type, then by name; metadata by key (in the reference
/// implementation the order of several keys is random). Throws invalid_argument for a name that is duplicate,
/// "__metadata__" or invalid UTF-8, and for an empty tensor; unsupported for a type that the format lacks.
std::vector<std::byte> safetensors_bytes(std::span<const NamedTensor> tensors,
                                         const std::map<std::string, std::string>& metadata = {});

/// Writes these bytes through a temporary file and a rename, one tensor after the other; `written` is told how many
/// tensors are, and what it throws ends the writing.
void write_safetensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
                       const std::map<std::string, std::string>& metadata = {},
                       const std::function<void(std::size_t)>& written = {});

/// A tensor whose bytes are made while they are written.
struct StreamedTensor {
  using Sink = std::function<void(std::span<const std::byte>)>;

  std::string name;
  Shape shape;
  std::function<void(const Sink&)> produce;  // gives the bytes to the sink, in order
};

/// Writes the same bytes for tensors that need not be in memory, and does not commit the file. Throws as
/// safetensors_bytes, what `produce` throws, resource_exhausted for a longer header than readers take, and internal if
/// a tensor's bytes are more or fewer than its shape says.
void write_safetensors(base::AtomicFile& file, std::span<const StreamedTensor> tensors,
                       const std::map<std::string, std::string>& metadata = {});

/// What a file with one tensor has before its data: a header padded with spaces, so that its length is the same for any
/// first extent. For files whose number of rows is known only at their end. Throws unsupported for a type that the
/// format lacks and for a scalar.
std::string growing_safetensors_head(std::string_view name, const Shape& shape);

}  // namespace alate::formats
