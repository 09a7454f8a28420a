#include <cstring>
#include <utility>

#include "formats/npy/bool_bytes.h"
#include "formats/pytorch/checkpoint.h"

namespace alate::formats {
namespace {

// Copies elements row by row out of another order.
void gather(std::span<const std::byte> from, const CheckpointTensor& tensor, std::span<std::byte> to) {
  const std::size_t size = bytes_for(tensor.shape.dtype, 1);
  std::vector<std::int64_t> index(tensor.shape.rank(), 0);
  std::size_t at = 0;
  for (std::size_t done = 0; done < to.size(); done += size) {
    std::memcpy(to.data() + done, from.data() + at, size);
    for (std::size_t axis = index.size(); axis > 0; --axis) {
      const std::size_t step = static_cast<std::size_t>(tensor.strides[axis - 1]) * size;
      const std::int64_t extent = tensor.shape.dims[axis - 1].number();
      at += step;
      if (++index[axis - 1] < extent) break;
      at -= step * static_cast<std::size_t>(extent);
      index[axis - 1] = 0;
    }
  }
}

}  // namespace

Tensor checkpoint_tensor(std::span<const std::byte> file, std::shared_ptr<const void> owner,
                         const CheckpointTensor& entry) {
  const std::span<const std::byte> bytes = file.subspan(entry.begin, entry.end - entry.begin);
  if (entry.strides.empty()) return with_proper_bools(Tensor::borrow(entry.shape, bytes.data(), std::move(owner)));
  Tensor rows = Tensor::uninitialized(entry.shape);
  gather(bytes, entry, rows.mutable_bytes());
  return with_proper_bools(std::move(rows));
}

}  // namespace alate::formats
