#include "backends/cpu/kernels/windows/patches.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/kernels/vectors/row_split.h"
#include "backends/cpu/kernels/windows/window_kernels.h"

namespace alate::cpu {
namespace {

// Where a position's window begins, and its batch entry.
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

// The position of x that entry `at` of the window reads along an axis, or -1.
std::int64_t seen(const PatchAxis& axis, std::int64_t start, std::size_t at) {
  const std::int64_t position = start + static_cast<std::int64_t>(at) * axis.window_dilation;
  if (position < 0) return -1;
  if (axis.base_dilation == 1) return position < static_cast<std::int64_t>(axis.extent) ? position : -1;
  if (position % axis.base_dilation != 0) return -1;
  const std::int64_t place = position / axis.base_dilation;
  return place < static_cast<std::int64_t>(axis.extent) ? place : -1;
}

// Calls visit(line, is_seen) for every line of the window, over all its axes but the last; `line` is its offset in x,
// in positions.
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

// Copies a few words inline, where a call would cost too much.
void copy_run(std::byte* __restrict to, const std::byte* __restrict from, std::size_t bytes) {
  constexpr std::size_t kShort = 128;
  if (bytes > kShort || bytes % sizeof(float) != 0) {
    std::memcpy(to, from, bytes);
    return;
  }
  for (std::size_t i = 0; i < bytes; i += sizeof(float)) std::memcpy(to + i, from + i, sizeof(float));
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
      copy_run(row, g.x + (line + static_cast<std::size_t>(first)) * g.place_bytes, line_bytes);
    } else {
      for (std::size_t at = 0; at < last.window; ++at) {
        const std::int64_t found = seen(last, first, at);
        std::byte* to = row + at * g.run_bytes;
        if (found < 0)
          std::memset(to, 0, g.run_bytes);
        else
          copy_run(to, g.x + (line + static_cast<std::size_t>(found)) * g.place_bytes, g.run_bytes);
      }
    }
    row += line_bytes;
  });
}

// The positions along an axis whose windows surely lie within it; none where holes make that unclear.
struct WholeRange {
  std::size_t begin, end;
};
WholeRange whole_range(const PatchAxis& axis) {
  const std::int64_t seen_length = (static_cast<std::int64_t>(axis.window) - 1) * axis.window_dilation + 1;
  const std::int64_t room = static_cast<std::int64_t>(axis.extent) - seen_length + axis.low;
  const auto count = static_cast<std::int64_t>(axis.count);
  if (axis.base_dilation != 1 || axis.window == 0 || room < 0) return {axis.count, axis.count};
  const std::int64_t begin = std::clamp<std::int64_t>((axis.low + axis.stride - 1) / axis.stride, 0, count);
  const std::int64_t end = std::clamp<std::int64_t>(room / axis.stride + 1, begin, count);
  return {static_cast<std::size_t>(begin), static_cast<std::size_t>(end)};
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

bool needs_padding(const PatchGeometry& geometry) {
  const PatchGeometry padded = with_padding(geometry);
  for (std::size_t axis = 0; axis < geometry.rank; ++axis) {
    if (geometry.axes[axis].low != padded.axes[axis].low || geometry.axes[axis].extent != padded.axes[axis].extent)
      return true;
  }
  return false;
}

PatchGeometry with_padding(const PatchGeometry& geometry) {
  PatchGeometry padded = geometry;
  bool is_within = true;
  for (std::size_t axis = 0; axis < geometry.rank; ++axis) {
    PatchAxis& a = padded.axes[axis];
    a.low = 0;
    a.extent = a.count == 0 ? 0
                            : (a.count - 1) * static_cast<std::size_t>(a.stride) +
                                  (a.window - 1) * static_cast<std::size_t>(a.window_dilation) + 1;
    is_within = is_within && geometry.axes[axis].low == 0 && a.extent <= geometry.axes[axis].extent;
  }
  return is_within ? geometry : padded;
}

void pad_places(const PatchGeometry& geometry, std::size_t batch, std::byte* padded, base::ThreadPool& pool,
                std::size_t max_workers) {
  const PatchGeometry target = with_padding(geometry);
  const std::size_t outer = geometry.rank - 1, width = target.axes[outer].extent;
  std::size_t lines = batch;
  for (std::size_t axis = 0; axis < outer; ++axis) lines *= target.axes[axis].extent;
  // Positions [begin, end) of each line come from x.
  const auto extent = static_cast<std::int64_t>(geometry.axes[outer].extent), low = geometry.axes[outer].low;
  const auto begin = static_cast<std::size_t>(std::clamp<std::int64_t>(low, 0, static_cast<std::int64_t>(width)));
  const auto end = static_cast<std::size_t>(
      std::clamp<std::int64_t>(extent + low, static_cast<std::int64_t>(begin), static_cast<std::int64_t>(width)));
  const std::size_t bytes = geometry.place_bytes;
  split_rows(lines, width * bytes / 8, pool, max_workers, [&](std::size_t first, std::size_t last) {
    for (std::size_t line = first; line < last; ++line) {
      std::byte* to = padded + line * width * bytes;
      std::size_t rest = line, from = 0, size = 1;
      bool is_seen = true;
      for (std::size_t axis = outer; axis-- > 0;) {
        const std::size_t target_extent = target.axes[axis].extent, source_extent = geometry.axes[axis].extent;
        const std::int64_t place = static_cast<std::int64_t>(rest % target_extent) - geometry.axes[axis].low;
        is_seen = is_seen && place >= 0 && place < static_cast<std::int64_t>(source_extent);
        if (is_seen) from += static_cast<std::size_t>(place) * size;
        size *= source_extent;
        rest /= target_extent;
      }
      if (!is_seen || begin == end) {
        std::memset(to, 0, width * bytes);
        continue;
      }
      from = (rest * size + from) * static_cast<std::size_t>(extent);
      std::memset(to, 0, begin * bytes);
      std::memcpy(to + begin * bytes,
                  geometry.x + (from + static_cast<std::size_t>(static_cast<std::int64_t>(begin) - low)) * bytes,
                  (end - begin) * bytes);
      std::memset(to + end * bytes, 0, (width - end) * bytes);
    }
  });
}

std::size_t line_count(const PatchGeometry& geometry, std::size_t batch) {
  std::size_t lines = batch;
  for (std::size_t axis = 0; axis + 1 < geometry.rank; ++axis) lines *= geometry.axes[axis].count;
  return lines;
}

// The window's last axis is one segment if its entries are adjacent.
std::size_t segment_count(const PatchGeometry& geometry) {
  const PatchAxis& last = geometry.axes[geometry.rank - 1];
  return last.window_dilation == 1 ? geometry.window_size() / last.window : geometry.window_size();
}

void write_line_offsets(const PatchGeometry& geometry, std::size_t batch, std::ptrdiff_t* lines,
                        std::ptrdiff_t* segments) {
  const std::size_t outer = geometry.rank - 1;
  std::ptrdiff_t strides[kMostPatchAxes] = {};
  auto batch_stride = static_cast<std::ptrdiff_t>(geometry.place_bytes / sizeof(float));
  for (std::size_t axis = geometry.rank; axis-- > 0;) {
    strides[axis] = batch_stride;
    batch_stride *= static_cast<std::ptrdiff_t>(geometry.axes[axis].extent);
  }
  // Offset of combination `index`, counted in row-major order, of `counts` steps along the first `axes` axes.
  const auto offset = [&](std::size_t index, std::size_t axes, std::size_t PatchAxis::*counts,
                          std::int64_t PatchAxis::*step) {
    std::ptrdiff_t sum = 0;
    for (std::size_t axis = axes; axis-- > 0;) {
      const PatchAxis& a = geometry.axes[axis];
      sum += static_cast<std::ptrdiff_t>(index % (a.*counts)) * (a.*step) * strides[axis];
      index /= a.*counts;
    }
    return sum + static_cast<std::ptrdiff_t>(index) * batch_stride;
  };
  for (std::size_t line = 0; line < line_count(geometry, batch); ++line)
    lines[line] = offset(line, outer, &PatchAxis::count, &PatchAxis::stride);
  const std::size_t axes = geometry.axes[outer].window_dilation == 1 ? outer : geometry.rank;
  for (std::size_t segment = 0; segment < segment_count(geometry); ++segment)
    segments[segment] = offset(segment, axes, &PatchAxis::window, &PatchAxis::window_dilation);
}

void convolve_depthwise(const PatchGeometry& geometry, std::size_t batch, const float* weights, float* out,
                        base::ThreadPool& pool, std::size_t max_workers, const Kernels& set) {
  const std::size_t channels = geometry.run_bytes / sizeof(float);
  const PatchAxis& last = geometry.axes[geometry.rank - 1];
  if (last.count == 0) return;
  const std::size_t lines = batch * geometry.places_per_batch() / last.count;
  const WholeRange whole = whole_range(last);
  const std::size_t cost = last.count * geometry.window_size() * std::max<std::size_t>(channels / 8, 1);
  split_rows(lines, cost, pool, max_workers, [&](std::size_t begin, std::size_t end) {
    const float *x[kMostDepthwiseTaps], *w[kMostDepthwiseTaps];
    for (std::size_t line = begin; line < end; ++line) {
      const WindowStart start = start_of(geometry, line * last.count);
      // Convolves `places` positions from `place` on, which read the same taps.
      const auto convolve = [&](std::size_t place, std::size_t places) {
        const std::int64_t first = static_cast<std::int64_t>(place) * last.stride - last.low;
        DepthwiseRun run{x,        w,
                         0,        channels,
                         places,   static_cast<std::size_t>(last.stride) * channels,
                         channels, out + (line * last.count + place) * channels};
        const float* weight = weights;
        for_each_line(geometry, start, [&](std::size_t from, bool is_seen) {
          for (std::size_t at = 0; at < last.window; ++at, weight += channels) {
            const std::int64_t found = is_seen ? seen(last, first, at) : -1;
            if (found < 0) continue;
            x[run.taps] =
                reinterpret_cast<const float*>(geometry.x) + (from + static_cast<std::size_t>(found)) * channels;
            w[run.taps++] = weight;
          }
        });
        window_kernels(set).depthwise_run(run);
      };
      for (std::size_t place = 0; place < whole.begin; ++place) convolve(place, 1);
      if (whole.begin < whole.end) convolve(whole.begin, whole.end - whole.begin);
      for (std::size_t place = whole.end; place < last.count; ++place) convolve(place, 1);
    }
  });
}

}  // namespace alate::cpu
