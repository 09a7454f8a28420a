// The tensors of a file that torch.save wrote: a zip archive of torch 1.6 and newer, or pickles one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alate/tensor.h"

namespace alate::formats {

struct CheckpointTensor {
  std::string name;
  Shape shape;
  std::size_t begin = 0, end = 0;     // what it reads of the file, in bytes
  std::vector<std::int64_t> strides;  // of the axes, in elements; empty: row by row
};

struct Checkpoint {
  std::vector<CheckpointTensor> tensors;  // sorted by their bytes in the file, then by name; names are unique
};

/// The tensors of the dict in a complete file, or of the dict "state_dict" in it. Other values of the dict are left
/// out. Every tensor lies in the file, and all of them, tied ones counted once, have no more bytes than it. Throws as
/// list_zip and parse_pickle, corrupt, and unsupported for types that Alate lacks, compressed archives, other byte
/// orders, tensors with less storage than elements, and files without such a dict; each with `what` (the file's name).
Checkpoint parse_checkpoint(std::span<const std::byte> file, std::string_view what);

/// A tensor of the file; shares its bytes and keeps their `owner`, except where they are misaligned for the type or do
/// not lie row by row.
Tensor checkpoint_tensor(std::span<const std::byte> file, std::shared_ptr<const void> owner,
                         const CheckpointTensor& entry);

}  // namespace alate::formats
