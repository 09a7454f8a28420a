#include <cstring>
#include <vector>

#include "graph/operands.h"
#include "graph/reference/call.h"
#include "graph/reference/values.h"

namespace alate::graph {

Tensor reference_write_pages(const ReferenceCall& call) {
  const auto given = WritePagesOperands<Tensor>::of({}, call.operands);
  const bool is_stored = given.rows.dtype() == given.cache.dtype();
  const Tensor rows =
      is_stored ? given.rows : store_floats({given.cache.dtype(), given.rows.shape().dims}, load_floats(given.rows));
  const std::vector<std::int64_t> slots = load_indices(given.slots);
  const std::int64_t places = given.cache.extent(0) * given.cache.extent(1);
  Tensor result = Tensor::uninitialized(given.cache.shape());
  if (result.byte_count() == 0) return result;
  std::byte* const written = result.mutable_bytes().data();
  std::memcpy(written, given.cache.bytes().data(), result.byte_count());
  const std::size_t row_bytes = result.byte_count() / static_cast<std::size_t>(places);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i] < 0 || slots[i] >= places) continue;
    std::memcpy(written + static_cast<std::size_t>(slots[i]) * row_bytes, rows.bytes().data() + i * row_bytes,
                row_bytes);
  }
  return result;
}

}  // namespace alate::graph
