#include "backends/cpu/kernels/moving/transpose.h"

#include <array>
#include <cstdint>
#include <vector>

#include "backends/cpu/kernels/moving/move.h"
#include "backends/cpu/kernels/moving/move_axes.h"
#include "backends/cpu/kernels/moving/moving_kernels.h"
#include "backends/cpu/kernels/moving/stream.h"
#include "backends/cpu/kernels/vectors/row_split.h"

namespace alate::cpu {
namespace {

using Wide = std::array<std::uint64_t, 2>;

// A cache line holds four of these, so blocks of 4 x 4 use whole lines.
void transpose_128(const Wide* in, std::size_t in_stride, Wide* out, std::size_t out_stride, std::size_t rows,
                   std::size_t columns) {
  for (std::size_t band = 0; band < rows; band += 4) {
    const std::size_t end = std::min(rows, band + 4);
    for (std::size_t j = 0; j < columns; ++j) {
      for (std::size_t i = band; i < end; ++i) out[j * out_stride + i] = in[i * in_stride + j];
    }
  }
}

template <typename T>
auto transposer(const MovingKernels& kernels, std::size_t bytes) {
  if constexpr (sizeof(T) == 1) {
    return kernels.transpose_8;
  } else if constexpr (sizeof(T) == 2) {
    return kernels.transpose_16;
  } else if constexpr (sizeof(T) == 4) {
    return bytes >= kStreamedBytes ? kernels.transpose_32_streamed : kernels.transpose_32;
  } else if constexpr (sizeof(T) == 8) {
    return kernels.transpose_64;
  } else {
    return transpose_128;
  }
}

/// Handles inputs in which an axis other than the last is dense: it and the last axis form matrices to transpose, one
/// per position of the other axes. Copies them and returns true.
template <typename T>
bool copy_transposed(const T* in, const MoveAxes& axes, T* out, base::ThreadPool& pool, std::size_t max_workers,
                     const Kernels& set) {
  if (axes.rank < 2 || axes.in[axes.rank - 1] < 2) return false;
  std::size_t dense = 0;
  while (dense < axes.rank && axes.in[dense] != 1) ++dense;
  if (dense == axes.rank) return false;
  const std::size_t rows = axes.dims[dense], columns = axes.dims[axes.rank - 1];  // of the output
  if (rows * columns < 16) return false;
  const auto in_stride = static_cast<std::size_t>(axes.in[axes.rank - 1]),
             out_stride = static_cast<std::size_t>(axes.out[dense]);
  MoveAxes outer;
  for (std::size_t i = 0; i + 1 < axes.rank; ++i) {
    if (i != dense) outer.push(axes.dims[i], axes.in[i], axes.out[i]);
  }
  // Rows of the output per band: several adjacent cache lines of each input row, or one line if there would be too few
  // bands for the threads.
  constexpr std::size_t kLine = sizeof(T) < 16 ? 64 / sizeof(T) : 16, kLines = 4;
  const std::size_t workers = max_workers == 0 ? pool.size() : std::min(max_workers, pool.size());
  const std::size_t wide_bands = (rows + kLine * kLines - 1) / (kLine * kLines);
  const std::size_t band = outer.count() * wide_bands < 4 * workers ? kLine : kLine * kLines;
  const std::size_t bands = (rows + band - 1) / band;
  const auto transpose = transposer<T>(moving_kernels(set), axes.count() * sizeof(T));
  split_rows(outer.count() * bands, std::min(band, rows) * columns, pool, max_workers,
             [&](std::size_t begin, std::size_t end) {
               MoveWalk matrix(outer, begin / bands);
               for (std::size_t index = begin; index < end; ++index) {
                 const std::size_t row = index % bands * band;
                 transpose(in + matrix.in() + row, in_stride,
                           out + matrix.out() + static_cast<std::ptrdiff_t>(row * out_stride), out_stride, columns,
                           std::min(band, rows - row));
                 if ((index + 1) % bands == 0) matrix.next();
               }
             });
  return true;
}

}  // namespace

void copy_strided(const void* in, std::span<const std::ptrdiff_t> strides, void* out, std::span<const std::size_t> dims,
                  std::size_t element_bytes, base::ThreadPool& pool, std::size_t max_workers, const Kernels& set) {
  std::vector<std::ptrdiff_t> dense(dims.size());
  std::ptrdiff_t next = 1;
  for (std::size_t i = dims.size(); i-- > 0;) {
    dense[i] = next;
    next *= static_cast<std::ptrdiff_t>(dims[i]);
  }
  const MoveAxes axes = merge_move_axes(dims, strides, dense);
  if (axes.count() == 0) return;
  with_element_type(element_bytes, [&]<typename T>(T) {
    if (copy_transposed(static_cast<const T*>(in), axes, static_cast<T*>(out), pool, max_workers, set)) return;
    move_strided(in, strides, out, dense, dims, element_bytes, pool, max_workers);
  });
}

}  // namespace alate::cpu
