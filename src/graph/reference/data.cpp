#include <algorithm>
#include <cstring>

#include "graph/reference/call.h"
#include "graph/reference/strided.h"
#include "graph/reference/values.h"

namespace alate::graph {
namespace {

std::size_t element_size(const Tensor& x) { return bits_of(x.dtype()) / 8; }

}  // namespace

Tensor reference_select(const ReferenceCall& call) {
  const Tensor &condition = call.operand(0), &yes = call.operand(1), &no = call.operand(2);
  if (condition.rank() == 0) return condition.bytes()[0] != std::byte{0} ? yes : no;
  const std::size_t size = element_size(yes), count = static_cast<std::size_t>(yes.element_count());
  Tensor result = Tensor::uninitialized(call.shape());
  for (std::size_t i = 0; i < count; ++i) {
    const Tensor& chosen = condition.bytes()[i] != std::byte{0} ? yes : no;
    std::memcpy(result.mutable_bytes().data() + i * size, chosen.bytes().data() + i * size, size);
  }
  return result;
}

Tensor reference_iota(const ReferenceCall& call) {
  const std::vector<std::int64_t> extents = extents_of(call.shape());
  const auto axis = static_cast<std::size_t>(call.as<Iota>().axis);
  const std::int64_t step = product(std::span(extents).subspan(axis + 1)), length = extents[axis];
  const auto count = static_cast<std::size_t>(call.shape().element_count());
  if (is_float(call.shape().dtype)) {
    std::vector<double> values(count);
    for (std::size_t i = 0; i < count; ++i)
      values[i] = static_cast<double>(static_cast<std::int64_t>(i) / step % length);
    return store_floats(call.shape(), values);
  }
  std::vector<std::uint64_t> words(count);
  for (std::size_t i = 0; i < count; ++i)
    words[i] = static_cast<std::uint64_t>(static_cast<std::int64_t>(i) / step % length);
  return store_words(call.shape(), words);
}

Tensor reference_reshape(const ReferenceCall& call) { return call.operand(0).reshaped(extents_of(call.shape())); }

Tensor reference_transpose(const ReferenceCall& call) {
  return transposed(call.operand(0), call.as<Permutation>().permutation);
}

Tensor reference_broadcast_in_dim(const ReferenceCall& call) {
  const Tensor& x = call.operand(0);
  const Numbers& mapping = call.as<BroadcastInDim>().mapping;
  const std::vector<std::int64_t> extents = extents_of(x.shape());
  const Strides strides = row_major(extents);
  Strides from_strides(call.shape().rank(), 0);  // a stride of 0 repeats elements
  for (std::size_t i = 0; i < mapping.size(); ++i) {
    if (extents[i] != 1) from_strides[static_cast<std::size_t>(mapping[i])] = strides[i];
  }
  return picked(call.shape(), x, 0, from_strides);
}

Tensor reference_concatenate(const ReferenceCall& call) {
  const auto axis = static_cast<std::size_t>(call.as<Axis>().axis);
  const Strides to_strides = row_major(extents_of(call.shape()));
  Tensor result = Tensor::uninitialized(call.shape());
  if (result.element_count() == 0) return result;
  const std::size_t size = element_size(result);
  std::int64_t start = 0;
  for (const Tensor& part : call.operands) {
    const std::vector<std::int64_t> extents = extents_of(part.shape());
    copy_strided(result.mutable_bytes().data() + static_cast<std::size_t>(start * to_strides[axis]) * size, to_strides,
                 part.bytes().data(), row_major(extents), extents, size);
    start += extents[axis];
  }
  return result;
}

Tensor reference_slice(const ReferenceCall& call) {
  const Tensor& x = call.operand(0);
  const Slice& slice = call.as<Slice>();
  const Strides strides = row_major(extents_of(x.shape()));
  Strides from_strides;
  std::int64_t first = 0;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    const std::int64_t start = call.extent(slice.starts[i]), limit = call.extent(slice.limits[i]);
    call.require(start <= limit && limit <= x.extent(i), "slice reaches past the end of its operand");
    const std::int64_t stride = slice.strides.empty() ? 1 : slice.strides[i];
    first += start * strides[i];
    // A stride past the end is never used: the result axis has one element then.
    from_strides.push_back(stride < x.extent(i) ? stride * strides[i] : 0);
  }
  return picked(call.shape(), x, first, from_strides);
}

}  // namespace alate::graph
