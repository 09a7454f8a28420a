// https://openxla.org/stablehlo/spec#scatter
#include "backends/cpu/kernels/moving/scatter.h"

#include "alate/error.h"
#include "backends/cpu/kernels/moving/move.h"
#include "backends/cpu/steps/layout.h"
#include "backends/cpu/steps/products/halves.h"

namespace alate::cpu {
namespace {

// Splits the updates into runs that are also dense in input 0: trailing window axes are merged where the inner ones
// cover all of input 0's.
class Runs {
 public:
  Runs(const graph::Scatter& scatter, const Shape& x, const Shape& indices, const Shape& updates)
      : x_strides_(row_major_strides(x)), walked_(updates.rank()), x_extents_(extents(x)) {
    const Strides index_strides = row_major_strides(indices), update_strides = row_major_strides(updates);
    const auto vector_dim = static_cast<std::size_t>(scatter.index_vector_dim);
    start_is_given_.assign(x.rank(), false);
    for (const std::int64_t axis : scatter.scatter_dims_to_operand_dims) {
      entry_axes_.push_back(static_cast<std::size_t>(axis));
      start_is_given_[entry_axes_.back()] = true;
    }
    for (const std::int64_t axis : scatter.input_batching_dims) start_is_given_[static_cast<std::size_t>(axis)] = true;
    entry_step_ = vector_dim < indices.rank() ? index_strides[vector_dim] : 0;

    axes_.resize(updates.rank());
    for (std::size_t i = 0, next = 0; i < x.rank(); ++i) {
      if (names_axis(scatter.inserted_window_dims, i) || names_axis(scatter.input_batching_dims, i)) continue;
      Axis& axis = axes_[static_cast<std::size_t>(scatter.update_window_dims[next++])];
      axis.is_window = true;
      axis.x_axis = i;
    }
    std::size_t index_axis = 0;
    for (std::size_t i = 0; i < updates.rank(); ++i) {
      Axis& axis = axes_[i];
      axis.extent = updates.dims[i].number();
      axis.stride = update_strides[i];
      if (axis.is_window) {
        if (axis.extent > x.dims[axis.x_axis].number())
          throw Error(ErrorCode::invalid_argument, "scatter: a window of operand 2 is larger than operand 0");
        continue;
      }
      if (index_axis == vector_dim) ++index_axis;
      axis.index_step = index_strides[index_axis];
      axis.x_axis = x.rank();
      for (std::size_t k = 0; k < scatter.input_batching_dims.size(); ++k) {
        if (scatter.scatter_indices_batching_dims[k] == static_cast<std::int64_t>(index_axis))
          axis.x_axis = static_cast<std::size_t>(scatter.input_batching_dims[k]);
      }
      ++index_axis;
    }
    while (walked_ > 0) {
      const Axis& axis = axes_[walked_ - 1];
      const std::size_t joined = updates.rank() - walked_;
      if (!axis.is_window || axis.x_axis + joined + 1 != x.rank()) break;
      if (joined > 0) {
        const Axis& inner = axes_[walked_];
        if (inner.extent != x.dims[inner.x_axis].number() || start_is_given_[inner.x_axis]) break;
      }
      --walked_;
    }
  }

  /// An upper bound of the number of runs.
  std::size_t count() const {
    std::size_t count = 1;
    for (std::size_t i = 0; i < walked_; ++i) count *= static_cast<std::size_t>(axes_[i].extent);
    return count;
  }

  /// Writes the runs that land in input 0, in row-major order of the updates, and returns their number.
  template <typename T>
  std::size_t find(const std::byte* indices, ScatterRun* runs) const {
    std::size_t found = 0;
    std::vector<std::int64_t> at(walked_, 0), start(x_extents_.size()), within(x_extents_.size());
    for (std::size_t n = count(); n-- > 0;) {
      std::fill(start.begin(), start.end(), 0);
      std::fill(within.begin(), within.end(), 0);
      std::ptrdiff_t entry = 0;
      ScatterRun run;
      for (std::size_t i = 0; i < walked_; ++i) {
        const Axis& axis = axes_[i];
        run.from += at[i] * axis.stride;
        entry += at[i] * axis.index_step;
        if (axis.x_axis < start.size()) (axis.is_window ? within : start)[axis.x_axis] = at[i];
      }
      for (const std::size_t axis : entry_axes_) {
        start[axis] = index_at<T>(indices, entry);
        entry += entry_step_;
      }
      if (lands(start, within, run)) runs[found++] = run;
      for (std::size_t i = walked_; i-- > 0;) {
        if (++at[i] < axes_[i].extent) break;
        at[i] = 0;
      }
    }
    return found;
  }

 private:
  struct Axis {  // of the updates
    bool is_window = false;
    std::size_t x_axis = 0;  // the axis of a window axis or of a batching axis; otherwise past the last
    std::int64_t extent = 0;
    std::ptrdiff_t stride = 0, index_step = 0;
  };

  // Completes a run whose `from` is set; returns false if all of it is outside.
  bool lands(const std::vector<std::int64_t>& start, const std::vector<std::int64_t>& within, ScatterRun& run) const {
    const std::size_t joined = axes_.size() - walked_, rank = start.size();
    for (std::size_t i = 0; i + joined < rank; ++i) {
      const auto extent = static_cast<std::int64_t>(x_extents_[i]);
      // Compared without adding first, as the sum could overflow.
      if (start[i] < -within[i] || start[i] >= extent - within[i]) return false;
      run.to += (start[i] + within[i]) * x_strides_[i];
    }
    run.length = 1;
    if (joined == 0) return true;
    const std::size_t outermost = rank - joined;  // the outermost merged axis, the only one that may be partly outside
    const std::int64_t width = axes_[walked_].extent, extent = static_cast<std::int64_t>(x_extents_[outermost]);
    const std::int64_t first = start[outermost];
    if (first <= -width || first >= extent) return false;
    const std::int64_t low = std::max<std::int64_t>(0, -first), high = std::min(width, extent - first);
    const std::ptrdiff_t unit = x_strides_[outermost];
    run.to += (first + low) * unit;
    run.from += low * unit;
    run.length = (high - low) * unit;
    return run.length > 0;
  }

  Strides x_strides_;
  std::size_t walked_;  // axes of the updates before those of the runs
  std::vector<std::size_t> x_extents_;
  std::vector<bool> start_is_given_;     // of each axis of x
  std::vector<std::size_t> entry_axes_;  // axes of x that an index vector's entries refer to
  std::ptrdiff_t entry_step_ = 0;
  std::vector<Axis> axes_;
};

ScatterOp op_of(const Step& step) {
  switch (step.operation->op) {
    case graph::Op::scatter_sum: return ScatterOp::sum;
    case graph::Op::scatter_max: return ScatterOp::max;
    case graph::Op::scatter_min: return ScatterOp::min;
    default: return ScatterOp::set;
  }
}

bool widens(const Step& step, DType dtype) { return is_half(dtype) && op_of(step) != ScatterOp::set; }

}  // namespace

// The runs, and, for halves in arithmetic, the values and updates as f32.
std::size_t scatter_scratch(const Step& step, const Binding& binding, std::size_t /*index*/) {
  const Shape &x = binding.shapes[step.inputs[0]], &updates = binding.shapes[step.inputs[2]];
  const Runs runs(std::get<graph::Scatter>(step.attributes), x, binding.shapes[step.inputs[1]], updates);
  std::size_t bytes = scratch_aligned(runs.count() * sizeof(ScatterRun));
  if (widens(step, x.dtype)) bytes += widened_bytes(count_of(x)) + widened_bytes(count_of(updates));
  return bytes;
}

void run_scatter(const Step& step, const Frame& frame) {
  const Shape &x = frame.shape(step.inputs[0]), &indices = frame.shape(step.inputs[1]),
              &updates = frame.shape(step.inputs[2]);
  const std::size_t count = count_of(x), update_count = count_of(updates);
  if (count == 0) return;
  std::byte* out = frame.out<std::byte>(step.output());
  const Runs cut(std::get<graph::Scatter>(step.attributes), x, indices, updates);
  auto* runs = reinterpret_cast<ScatterRun*>(frame.scratch);
  std::size_t found = 0;
  if (update_count > 0) {
    with_integer_type(indices.dtype,
                      [&]<typename T>(T) { found = cut.find<T>(frame.in<std::byte>(step.inputs[1]), runs); });
  }
  ScatterArguments arguments{runs, found, frame.in<std::byte>(step.inputs[2]), out, count, update_count};
  if (found == 0 || !widens(step, x.dtype)) {
    move_bytes(frame.in<std::byte>(step.inputs[0]), out, x.byte_count(), frame.pool, frame.max_workers);
    if (found > 0) scatter(op_of(step), x.dtype, arguments, frame.pool, frame.max_workers);
    return;
  }
  std::byte* wide = frame.scratch + scratch_aligned(cut.count() * sizeof(ScatterRun));
  std::byte* wide_updates = wide + widened_bytes(count);
  convert_values(frame, x.dtype, frame.in<std::byte>(step.inputs[0]), DType::f32, wide, count);
  convert_values(frame, x.dtype, arguments.updates, DType::f32, wide_updates, update_count);
  arguments.updates = wide_updates;
  arguments.out = wide;
  scatter(op_of(step), DType::f32, arguments, frame.pool, frame.max_workers);
  convert_values(frame, DType::f32, wide, x.dtype, out, count);
}

}  // namespace alate::cpu
