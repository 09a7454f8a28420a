#include <algorithm>
#include <cstring>
#include <vector>

#include "alate/error.h"
#include "backends/cpu/kernels/gather.h"
#include "backends/cpu/kernels/transpose.h"
#include "backends/cpu/steps/steps.h"
#include "tensor/element.h"
#include "tensor/packed.h"

namespace alate::cpu {
namespace {

using Strides = std::vector<std::ptrdiff_t>;

std::size_t element_bytes(const Shape& shape) { return bytes_for(shape.dtype, 1); }

Strides row_major_strides(const Shape& shape) {
  Strides strides(shape.rank());
  std::ptrdiff_t next = 1;
  for (std::size_t i = shape.rank(); i-- > 0;) {
    strides[i] = next;
    next *= static_cast<std::ptrdiff_t>(shape.dims[i].number());
  }
  return strides;
}

std::vector<std::size_t> extents(const Shape& shape) {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < shape.rank(); ++i) result.push_back(extent_of(shape, i));
  return result;
}

void copy(const Frame& frame, const std::byte* in, const Strides& strides, const Shape& shape, std::byte* out) {
  copy_strided(in, strides, out, extents(shape), element_bytes(shape), frame.pool, frame.max_workers);
}

std::int64_t load_index(const Shape& shape, const std::byte* indices, std::size_t i) {
  switch (shape.dtype) {
    case DType::i32: {
      std::int32_t value;
      std::memcpy(&value, indices + i * sizeof value, sizeof value);
      return value;
    }
    case DType::i64: {
      std::int64_t value;
      std::memcpy(&value, indices + i * sizeof value, sizeof value);
      return value;
    }
    case DType::u64: {
      std::uint64_t value;
      std::memcpy(&value, indices + i * sizeof value, sizeof value);
      return static_cast<std::int64_t>(std::min<std::uint64_t>(value, INT64_MAX));
    }
    case DType::i4:
    case DType::u4: {
      const auto four = static_cast<unsigned>(indices[i / 2]) >> (i % 2 * 4) & 15U;
      return static_cast<std::int64_t>(four) - (shape.dtype == DType::i4 && four > 7 ? 16 : 0);
    }
    default:
      return static_cast<std::int64_t>(tensor::load_double(shape.dtype, indices + i * bytes_for(shape.dtype, 1)));
  }
}

// Rows of axis 0, whole: what embeddings are.
bool takes_whole_rows(const graph::Gather& gather, const Shape& x, const Shape& indices) {
  if (gather.collapsed_slice_dims != graph::Numbers{0} || gather.start_index_map != graph::Numbers{0}) return false;
  if (gather.index_vector_dim != static_cast<std::int64_t>(indices.rank()) || !gather.operand_batching_dims.empty())
    return false;
  for (std::size_t i = 1; i < x.rank(); ++i) {
    if (gather.slice_sizes[i] != x.dims[i] && gather.slice_sizes[i].is_number()) return false;
    if (gather.offset_dims[i - 1] != static_cast<std::int64_t>(indices.rank() + i) - 1) return false;
  }
  return true;
}

// The general form of https://openxla.org/stablehlo/spec#gather, an element at a time.
void gather_elements(const graph::Gather& gather, const Step& step, const Frame& frame) {
  const Shape &x = frame.shape(step.inputs[0]), &indices = frame.shape(step.inputs[1]),
              &result = frame.shape(step.output());
  const Strides x_strides = row_major_strides(x), index_strides = row_major_strides(indices);
  const std::size_t bytes = element_bytes(x), vector_dim = static_cast<std::size_t>(gather.index_vector_dim);
  const std::byte *in = frame.in<std::byte>(step.inputs[0]), *places = frame.in<std::byte>(step.inputs[1]);
  std::byte* out = frame.out<std::byte>(step.output());
  std::vector<bool> is_offset(result.rank());
  for (const std::int64_t axis : gather.offset_dims) is_offset[static_cast<std::size_t>(axis)] = true;
  const auto names = [](const graph::Numbers& axes, std::size_t axis) {
    return std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(axis)) != axes.end();
  };
  std::vector<std::size_t> kept;  // the axes of x that offset_dims stand for
  for (std::size_t i = 0; i < x.rank(); ++i) {
    if (!names(gather.collapsed_slice_dims, i) && !names(gather.operand_batching_dims, i)) kept.push_back(i);
  }
  Strides batch_strides(indices.rank(), 0);  // how far a batching axis of the indices goes in x
  for (std::size_t i = 0; i < gather.operand_batching_dims.size(); ++i) {
    batch_strides[static_cast<std::size_t>(gather.start_indices_batching_dims[i])] =
        x_strides[static_cast<std::size_t>(gather.operand_batching_dims[i])];
  }
  std::vector<std::int64_t> at(result.rank());
  const std::size_t n = count_of(result);
  for (std::size_t i = 0; i < n; ++i) {
    std::ptrdiff_t index_base = 0, from = 0;
    std::size_t batch_axis = 0, offset_axis = 0;
    std::vector<std::int64_t> sizes(x.rank(), 1);
    for (std::size_t axis = 0; axis < result.rank(); ++axis) {
      if (is_offset[axis]) {
        sizes[kept[offset_axis]] = result.dims[axis].number();
        from += at[axis] * x_strides[kept[offset_axis++]];
      } else {
        if (batch_axis == vector_dim) ++batch_axis;
        from += at[axis] * batch_strides[batch_axis];
        index_base += at[axis] * index_strides[batch_axis++];
      }
    }
    for (std::size_t k = 0; k < gather.start_index_map.size(); ++k) {
      const auto axis = static_cast<std::size_t>(gather.start_index_map[k]);
      const std::ptrdiff_t place =
          index_base + (vector_dim < indices.rank() ? static_cast<std::ptrdiff_t>(k) * index_strides[vector_dim] : 0);
      const std::int64_t highest = x.dims[axis].number() - sizes[axis];
      from += std::clamp<std::int64_t>(load_index(indices, places, static_cast<std::size_t>(place)), 0,
                                       std::max<std::int64_t>(highest, 0)) *
              x_strides[axis];
    }
    std::memcpy(out + i * bytes, in + static_cast<std::size_t>(from) * bytes, bytes);
    for (std::size_t axis = result.rank(); axis-- > 0;) {
      if (++at[axis] < result.dims[axis].number()) break;
      at[axis] = 0;
    }
  }
}

}  // namespace

void run_iota(const Step& step, const Frame& frame) {
  const Shape& shape = frame.shape(step.output());
  const auto axis = static_cast<std::size_t>(std::get<graph::Iota>(step.attributes).axis);
  const auto inner = static_cast<std::size_t>(row_major_strides(shape)[axis]);
  const std::size_t n = count_of(shape), extent = extent_of(shape, axis), bytes = element_bytes(shape);
  std::byte* out = frame.out<std::byte>(step.output());
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t place = i / inner % extent;
    if (is_integer(shape.dtype)) {
      std::memcpy(out + i * bytes, &place, bytes);  // integers wrap
    } else {
      tensor::store_double(shape.dtype, static_cast<double>(place), out + i * bytes);
    }
  }
}

void run_copy(const Step& step, const Frame& frame) {
  const Shape& shape = frame.shape(step.output());
  if (tensor::is_packed(shape.dtype)) {  // always dense: only views give a copy of them
    const std::size_t bytes = bytes_for(shape.dtype, static_cast<std::int64_t>(count_of(shape)));
    if (bytes > 0) std::memcpy(frame.out<std::byte>(step.output()), frame.in<std::byte>(step.inputs[0]), bytes);
    return;
  }
  Strides strides = row_major_strides(shape);
  if (!strides.empty()) strides[0] = static_cast<std::ptrdiff_t>(frame.row_stride(step.inputs[0]));
  copy(frame, frame.in<std::byte>(step.inputs[0]), strides, shape, frame.out<std::byte>(step.output()));
}

void run_transpose(const Step& step, const Frame& frame) {
  const Strides from = row_major_strides(frame.shape(step.inputs[0]));
  Strides strides;
  for (const std::int64_t axis : std::get<graph::Permutation>(step.attributes).permutation)
    strides.push_back(from[static_cast<std::size_t>(axis)]);
  copy(frame, frame.in<std::byte>(step.inputs[0]), strides, frame.shape(step.output()),
       frame.out<std::byte>(step.output()));
}

void run_broadcast(const Step& step, const Frame& frame) {
  const Shape &x = frame.shape(step.inputs[0]), &result = frame.shape(step.output());
  const Strides from = row_major_strides(x);
  Strides strides(result.rank(), 0);
  const graph::Numbers& mapping = std::get<graph::BroadcastInDim>(step.attributes).mapping;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    if (x.dims[i] != Dim(1)) strides[static_cast<std::size_t>(mapping[i])] = from[i];
  }
  copy(frame, frame.in<std::byte>(step.inputs[0]), strides, result, frame.out<std::byte>(step.output()));
}

void run_concatenate(const Step& step, const Frame& frame) {
  const Shape& result = frame.shape(step.output());
  const auto axis = static_cast<std::size_t>(std::get<graph::Axis>(step.attributes).axis);
  std::size_t outer = 1;
  for (std::size_t i = 0; i < axis; ++i) outer *= extent_of(result, i);
  if (count_of(result) == 0) return;
  const std::size_t row = result.byte_count() / outer;
  std::size_t offset = 0;
  for (const SlotId input : step.inputs) {
    const std::size_t bytes = frame.shape(input).byte_count() / outer;
    for (std::size_t i = 0; i < outer && bytes > 0; ++i)
      std::memcpy(frame.out<std::byte>(step.output()) + i * row + offset, frame.in<std::byte>(input) + i * bytes,
                  bytes);
    offset += bytes;
  }
}

void run_slice(const Step& step, const Frame& frame) {
  const auto& [starts, limits, steps] = std::get<graph::Slice>(step.attributes);
  const Shape& x = frame.shape(step.inputs[0]);
  Strides strides = row_major_strides(x);
  std::ptrdiff_t offset = 0;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    offset += strides[i] * starts[i].number();
    if (frame.shape(step.output()).dims[i].number() > 0 &&
        starts[i].number() + (frame.shape(step.output()).dims[i].number() - 1) * (steps.empty() ? 1 : steps[i]) >=
            x.dims[i].number()) {
      throw make_error(ErrorCode::invalid_argument, "slice: limit of axis ", i,
                       " is past the end of the value, which has ", x.dims[i].number(), " entries in this run");
    }
    if (!steps.empty()) strides[i] *= steps[i];
  }
  copy(frame, frame.in<std::byte>(step.inputs[0]) + static_cast<std::size_t>(offset) * element_bytes(x), strides,
       frame.shape(step.output()), frame.out<std::byte>(step.output()));
}

std::size_t gather_scratch(const Step& step, const Binding& binding, std::size_t /*index*/) {
  return count_of(binding.shapes[step.inputs[1]]) * sizeof(std::int32_t);
}

void run_gather(const Step& step, const Frame& frame) {
  const auto& gather = std::get<graph::Gather>(step.attributes);
  const Shape &x = frame.shape(step.inputs[0]), &indices = frame.shape(step.inputs[1]);
  if (count_of(frame.shape(step.output())) == 0) return;
  if (count_of(x) == 0)
    throw Error(ErrorCode::invalid_argument,
                "gather: there are places to take but the value has no elements in this run");
  if (!takes_whole_rows(gather, x, indices) || x.dims[0].number() > INT32_MAX)
    return gather_elements(gather, step, frame);
  auto* rows = reinterpret_cast<std::int32_t*>(frame.scratch);
  const std::size_t count = count_of(indices);
  for (std::size_t i = 0; i < count; ++i) {
    rows[i] = static_cast<std::int32_t>(std::clamp<std::int64_t>(
        load_index(indices, frame.in<std::byte>(step.inputs[1]), i), 0, x.dims[0].number() - 1));
  }
  gather_rows(frame.in<std::byte>(step.inputs[0]), x.byte_count() / extent_of(x, 0), rows, count,
              frame.out<std::byte>(step.output()), frame.pool, frame.max_workers);
}

}  // namespace alate::cpu
