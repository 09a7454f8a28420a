#include "backends/cpu/kernels/patches.h"

#include <cstring>

#include "backends/cpu/kernels/dispatch.h"
#include "backends/cpu/kernels/row_split.h"

namespace alate::cpu {
namespace {

// Where a place's window begins, and which batch entry it is in.
struct WindowStart {
  std::size_t batch;
  std::int64_t position[kMostPatchAxes];
};

WindowStart start_of(const PatchGeometry& g, std::size_t place) {
  WindowStart start;
  for (std::size_t axis = g.rank; axis-- > 0;) {
    const PatchAxis& a = g.axes[axis];
    start.position[axis] = static_cast<std::int64_t>(place % a.count) * a.stride - a.low;
    place /= a.count;
  }
  start.batch = place;
  return start;
}

// The place of x that entry `at` of the window sees along an axis, or -1.
std::int64_t seen(const PatchAxis& axis, std::int64_t start, std::size_t at) {
  const std::int64_t position = start + static_cast<std::int64_t>(at) * axis.window_dilation;
  if (position < 0) return -1;
  if (axis.base_dilation == 1) return position < static_cast<std::int64_t>(axis.extent) ? position : -1;
  if (position % axis.base_dilation != 0) return -1;
  const std::int64_t place = position / axis.base_dilation;
  return place < static_cast<std::int64_t>(axis.extent) ? place : -1;
}

// Calls visit(line, is_seen) for every line of the window, all its axes but the last; `line` is where it lies in x, in
// places.
template <typename Visit>
void for_each_line(const PatchGeometry& g, const WindowStart& start, const Visit& visit) {
  std::size_t at[kMostPatchAxes] = {};
  const std::size_t outer = g.rank - 1;
  while (true) {
    bool is_seen = true;
    std::size_t line = start.batch;
    for (std::size_t axis = 0; axis < outer; ++axis) {
      const std::int64_t place = seen(g.axes[axis], start.position[axis], at[axis]);
      is_seen = is_seen && place >= 0;
      line = line * g.axes[axis].extent + (place < 0 ? 0 : static_cast<std::size_t>(place));
    }
    visit(line * g.axes[outer].extent, is_seen);
    std::size_t axis = outer;
    while (axis > 0 && ++at[axis - 1] == g.axes[axis - 1].window) at[--axis] = 0;
    if (axis == 0) return;
  }
}

void write_row(const PatchGeometry& g, std::size_t place, std::byte* row) {
  const WindowStart start = start_of(g, place);
  const PatchAxis& last = g.axes[g.rank - 1];
  const std::int64_t first = start.position[g.rank - 1];
  const std::size_t line_bytes = last.window * g.run_bytes;
  // Neighbours in x are neighbours in the row.
  const bool is_whole = g.run_bytes == g.place_bytes && last.base_dilation == 1 && last.window_dilation == 1 &&
                        first >= 0 &&
                        first + static_cast<std::int64_t>(last.window) <= static_cast<std::int64_t>(last.extent);
  for_each_line(g, start, [&](std::size_t line, bool is_seen) {
    if (!is_seen) {
      std::memset(row, 0, line_bytes);
    } else if (is_whole) {
      std::memcpy(row, g.x + (line + static_cast<std::size_t>(first)) * g.place_bytes, line_bytes);
    } else {
      for (std::size_t at = 0; at < last.window; ++at) {
        const std::int64_t found = seen(last, first, at);
        std::byte* to = row + at * g.run_bytes;
        if (found < 0)
          std::memset(to, 0, g.run_bytes);
        else
          std::memcpy(to, g.x + (line + static_cast<std::size_t>(found)) * g.place_bytes, g.run_bytes);
      }
    }
    row += line_bytes;
  });
}

}  // namespace

std::size_t PatchGeometry::places_per_batch() const {
  std::size_t places = 1;
  for (std::size_t axis = 0; axis < rank; ++axis) places *= axes[axis].count;
  return places;
}

std::size_t PatchGeometry::window_size() const {
  std::size_t size = 1;
  for (std::size_t axis = 0; axis < rank; ++axis) size *= axes[axis].window;
  return size;
}

bool PatchGeometry::is_pointwise() const {
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const PatchAxis& a = axes[axis];
    if (a.window != 1 || a.stride != 1 || a.low != 0 || a.base_dilation != 1 || a.count != a.extent) return false;
  }
  return true;
}

void write_patches(const PatchGeometry& geometry, std::size_t first, std::size_t count, std::byte* rows,
                   base::ThreadPool& pool, std::size_t max_workers) {
  const std::size_t row_bytes = geometry.window_size() * geometry.run_bytes;
  if (row_bytes == 0) return;
  split_rows(count, row_bytes / 8, pool, max_workers, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) write_row(geometry, first + i, rows + i * row_bytes);
  });
}

void convolve_depthwise(const PatchGeometry& geometry, std::size_t batch, const float* weights, float* out,
                        base::ThreadPool& pool, std::size_t max_workers, const Kernels& set) {
  const std::size_t channels = geometry.run_bytes / sizeof(float), places = batch * geometry.places_per_batch();
  const PatchAxis& last = geometry.axes[geometry.rank - 1];
  split_rows(places, geometry.window_size() * channels, pool, max_workers, [&](std::size_t begin, std::size_t end) {
    const float *x[kMostDepthwiseTaps], *w[kMostDepthwiseTaps];
    for (std::size_t place = begin; place < end; ++place) {
      const WindowStart start = start_of(geometry, place);
      DepthwisePoint point{x, w, 0, channels, out + place * channels};
      const float* weight = weights;
      for_each_line(geometry, start, [&](std::size_t line, bool is_seen) {
        for (std::size_t at = 0; at < last.window; ++at, weight += channels) {
          const std::int64_t found = is_seen ? seen(last, start.position[geometry.rank - 1], at) : -1;
          if (found < 0) continue;
          x[point.taps] = reinterpret_cast<const float*>(geometry.x + (line + static_cast<std::size_t>(found)) *
                                                                          geometry.place_bytes);
          w[point.taps++] = weight;
        }
      });
      set.simd.depthwise_point(point);
    }
  });
}

}  // namespace alate::cpu
