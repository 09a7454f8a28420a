// https://openxla.org/stablehlo/spec#gather
#include "alate/error.h"
#include "backends/cpu/kernels/moving/move.h"
#include "backends/cpu/kernels/vectors/row_split.h"
#include "backends/cpu/steps/layout.h"

namespace alate::cpu {
namespace {

// For each index vector, the offset in input 0 at which its slice begins, in elements.
class SlicePlaces {
 public:
  SlicePlaces(const graph::Gather& gather, const Shape& x, const Shape& indices, const Shape& result)
      : strides_(row_major_strides(x)) {
    const Strides index_strides = row_major_strides(indices);
    const auto vector_dim = static_cast<std::size_t>(gather.index_vector_dim);
    Strides batch_strides(indices.rank(), 0);  // stride in x of each batching axis of the indices
    for (std::size_t i = 0; i < gather.operand_batching_dims.size(); ++i) {
      batch_strides[static_cast<std::size_t>(gather.start_indices_batching_dims[i])] =
          strides_[static_cast<std::size_t>(gather.operand_batching_dims[i])];
    }
    for (std::size_t i = 0; i < indices.rank(); ++i) {
      if (i == vector_dim) continue;
      extents_.push_back(extent_of(indices, i));
      index_steps_.push_back(index_strides[i]);
      steps_.push_back(batch_strides[i]);
    }
    entry_step_ = vector_dim < indices.rank() ? index_strides[vector_dim] : 0;
    std::vector<std::int64_t> sizes(x.rank(), 1);
    std::size_t next = 0;
    for (std::size_t i = 0; i < x.rank(); ++i) {
      if (names_axis(gather.collapsed_slice_dims, i) || names_axis(gather.operand_batching_dims, i)) continue;
      sizes[i] = result.dims[static_cast<std::size_t>(gather.offset_dims[next++])].number();
      if (sizes[i] > x.dims[i].number()) {
        throw make_error(ErrorCode::invalid_argument, "gather: a slice of ", sizes[i], " entries along axis ", i,
                         " is larger than the operand, which has ", x.dims[i].number(), " in this run");
      }
    }
    for (const std::int64_t axis : gather.start_index_map) {
      const auto at = static_cast<std::size_t>(axis);
      entries_.push_back({x.dims[at].number() - sizes[at], strides_[at]});
    }
  }

  template <typename T>
  void find(const std::byte* indices, std::size_t begin, std::size_t end, std::ptrdiff_t* places) const {
    std::vector<std::size_t> at(extents_.size());
    std::ptrdiff_t index = 0, base = 0;
    std::size_t rest = begin;
    for (std::size_t i = at.size(); i-- > 0;) {
      at[i] = rest % extents_[i];
      rest /= extents_[i];
      index += static_cast<std::ptrdiff_t>(at[i]) * index_steps_[i];
      base += static_cast<std::ptrdiff_t>(at[i]) * steps_[i];
    }
    for (std::size_t n = begin; n < end; ++n) {
      std::ptrdiff_t place = base, entry_index = index;
      for (const Entry& entry : entries_) {
        place += std::clamp<std::int64_t>(index_at<T>(indices, entry_index), 0, entry.highest) * entry.stride;
        entry_index += entry_step_;
      }
      places[n] = place;
      for (std::size_t i = at.size(); i-- > 0;) {
        index += index_steps_[i];
        base += steps_[i];
        if (++at[i] < extents_[i]) break;
        index -= static_cast<std::ptrdiff_t>(extents_[i]) * index_steps_[i];
        base -= static_cast<std::ptrdiff_t>(extents_[i]) * steps_[i];
        at[i] = 0;
      }
    }
  }

 private:
  struct Entry {
    std::int64_t highest;
    std::ptrdiff_t stride;
  };
  Strides strides_;
  std::vector<std::size_t> extents_;  // of the indices' axes without the index vector's
  Strides index_steps_, steps_;       // along these axes, in the indices and in x
  std::ptrdiff_t entry_step_ = 0;
  std::vector<Entry> entries_;
};

std::size_t vectors_of(const graph::Gather& gather, const Shape& indices) {
  std::size_t count = 1;
  for (std::size_t i = 0; i < indices.rank(); ++i) {
    if (static_cast<std::int64_t>(i) != gather.index_vector_dim) count *= extent_of(indices, i);
  }
  return count;
}

}  // namespace

std::size_t gather_scratch(const Step& step, const Binding& binding, std::size_t /*index*/) {
  return vectors_of(std::get<graph::Gather>(step.attributes), binding.shapes[step.inputs[1]]) * sizeof(std::ptrdiff_t);
}

void run_gather(const Step& step, const Frame& frame) {
  const auto& gather = std::get<graph::Gather>(step.attributes);
  const Shape &x = frame.shape(step.inputs[0]), &indices = frame.shape(step.inputs[1]),
              &result = frame.shape(step.output());
  if (count_of(result) == 0) return;
  if (count_of(x) == 0)
    throw Error(ErrorCode::invalid_argument,
                "gather: there are places to take but the value has no elements in this run");
  auto* places = reinterpret_cast<std::ptrdiff_t*>(frame.scratch);
  const SlicePlaces slices(gather, x, indices, result);
  with_integer_type(indices.dtype, [&]<typename T>(T) {
    split_rows(vectors_of(gather, indices), 4, frame.pool, frame.max_workers, [&](std::size_t begin, std::size_t end) {
      slices.find<T>(frame.in<std::byte>(step.inputs[1]), begin, end, places);
    });
  });

  const Strides x_strides = row_major_strides(x), result_strides = row_major_strides(result);
  std::vector<std::size_t> batch_dims, window_dims;
  Strides batch_strides, window_in, window_out;
  for (std::size_t i = 0, next = 0; i < x.rank(); ++i) {
    if (names_axis(gather.collapsed_slice_dims, i) || names_axis(gather.operand_batching_dims, i)) continue;
    const auto axis = static_cast<std::size_t>(gather.offset_dims[next++]);
    window_dims.push_back(extent_of(result, axis));
    window_in.push_back(x_strides[i]);
    window_out.push_back(result_strides[axis]);
  }
  for (std::size_t i = 0; i < result.rank(); ++i) {
    if (names_axis(gather.offset_dims, i)) continue;
    batch_dims.push_back(extent_of(result, i));
    batch_strides.push_back(result_strides[i]);
  }
  gather_windows({.in = frame.in<std::byte>(step.inputs[0]),
                  .places = places,
                  .out = frame.out<std::byte>(step.output()),
                  .batch_dims = batch_dims,
                  .window_dims = window_dims,
                  .batch_strides = batch_strides,
                  .window_in_strides = window_in,
                  .window_out_strides = window_out,
                  .element_bytes = element_bytes(x)},
                 frame.pool, frame.max_workers);
}

}  // namespace alate::cpu
