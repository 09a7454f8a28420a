#include "backends/cpu/kernels/transpose.h"

#include <array>
#include <cstdint>
#include <cstring>

#include "alate/error.h"
#include "backends/cpu/kernels/dispatch.h"
#include "backends/cpu/kernels/row_split.h"

namespace alate::cpu {
namespace {

constexpr std::size_t kMaxRank = 16;

struct Axes {
  std::size_t rank = 0;
  std::array<std::size_t, kMaxRank> dims{};
  std::array<std::ptrdiff_t, kMaxRank> strides{};

  void push(std::size_t dim, std::ptrdiff_t stride) {
    dims[rank] = dim;
    strides[rank++] = stride;
  }
};

/// Drops dimensions of 1 and joins neighbours that are one axis in memory.
Axes merge_axes(std::span<const std::size_t> dims, std::span<const std::ptrdiff_t> strides) {
  Axes axes;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 1) continue;
    if (axes.rank > 0 && axes.strides[axes.rank - 1] == strides[i] * static_cast<std::ptrdiff_t>(dims[i])) {
      axes.dims[axes.rank - 1] *= dims[i];
      axes.strides[axes.rank - 1] = strides[i];
    } else {
      axes.push(dims[i], strides[i]);
    }
  }
  return axes;
}

/// Where in the input the `index`-th combination of the given axes (the last one fastest) lies.
std::ptrdiff_t offset_of(std::size_t index, const Axes& axes) {
  std::ptrdiff_t offset = 0;
  for (std::size_t i = axes.rank; i-- > 0;) {
    offset += static_cast<std::ptrdiff_t>(index % axes.dims[i]) * axes.strides[i];
    index /= axes.dims[i];
  }
  return offset;
}

template <typename T>
void copy_rows(const T* in, const Axes& outer, std::size_t width, std::ptrdiff_t step, T* out, std::size_t begin,
               std::size_t end) {
  for (std::size_t row = begin; row < end; ++row) {
    const T* from = in + offset_of(row, outer);
    T* to = out + row * width;
    if (step == 1) {
      std::memcpy(to, from, width * sizeof(T));
    } else {
      for (std::size_t i = 0; i < width; ++i) to[i] = from[static_cast<std::ptrdiff_t>(i) * step];
    }
  }
}

template <typename T>
void copy_typed(const void* in, Axes axes, void* out, base::ThreadPool& pool, std::size_t max_workers) {
  if (axes.rank == 0) axes.push(1, 1);
  --axes.rank;
  const std::size_t width = axes.dims[axes.rank];
  const std::ptrdiff_t step = axes.strides[axes.rank];
  std::size_t rows = 1;
  for (std::size_t i = 0; i < axes.rank; ++i) rows *= axes.dims[i];
  split_rows(rows, width + axes.rank, pool, max_workers, [&](std::size_t begin, std::size_t end) {
    copy_rows(static_cast<const T*>(in), axes, width, step, static_cast<T*>(out), begin, end);
  });
}

/// The case that the last two axes are a matrix stored column by column: copies such matrices and returns true.
bool copy_transposed(const void* in, const Axes& axes, void* out, base::ThreadPool& pool, std::size_t max_workers,
                     const Kernels& set) {
  if (axes.rank < 2) return false;
  const std::size_t rows = axes.dims[axes.rank - 2];  // of the output; in the input these lie side by side
  const std::size_t columns = axes.dims[axes.rank - 1];
  if (axes.strides[axes.rank - 2] != 1 || axes.strides[axes.rank - 1] < 1 || rows < 4 || columns < 4) return false;
  Axes outer = axes;
  outer.rank -= 2;
  std::size_t matrices = 1;
  for (std::size_t i = 0; i < outer.rank; ++i) matrices *= outer.dims[i];
  constexpr std::size_t kBand = 16;
  const std::size_t bands = (rows + kBand - 1) / kBand;
  const std::size_t in_stride = static_cast<std::size_t>(axes.strides[axes.rank - 1]);
  split_rows(matrices * bands, kBand * columns, pool, max_workers, [&](std::size_t begin, std::size_t end) {
    for (std::size_t index = begin; index < end; ++index) {
      const std::size_t matrix = index / bands;
      const std::size_t row = index % bands * kBand;
      set.simd.transpose_32(static_cast<const std::uint32_t*>(in) + offset_of(matrix, outer) + row, in_stride,
                            static_cast<std::uint32_t*>(out) + (matrix * rows + row) * columns, columns, columns,
                            std::min(kBand, rows - row));
    }
  });
  return true;
}

}  // namespace

void copy_strided(const void* in, std::span<const std::ptrdiff_t> strides, void* out, std::span<const std::size_t> dims,
                  std::size_t element_bytes, base::ThreadPool& pool, std::size_t max_workers, const Kernels& set) {
  if (dims.size() > kMaxRank || strides.size() != dims.size()) {
    throw make_error(ErrorCode::unsupported, "copying an array of ", dims.size(), " dimensions: at most ", kMaxRank,
                     " are possible, with one stride each");
  }
  for (const std::size_t dim : dims) {
    if (dim == 0) return;
  }
  const Axes axes = merge_axes(dims, strides);
  if (element_bytes == 4 && copy_transposed(in, axes, out, pool, max_workers, set)) return;
  switch (element_bytes) {
    case 1: return copy_typed<std::uint8_t>(in, axes, out, pool, max_workers);
    case 2: return copy_typed<std::uint16_t>(in, axes, out, pool, max_workers);
    case 4: return copy_typed<std::uint32_t>(in, axes, out, pool, max_workers);
    case 8: return copy_typed<std::uint64_t>(in, axes, out, pool, max_workers);
    case 16: return copy_typed<std::array<std::uint64_t, 2>>(in, axes, out, pool, max_workers);
    default:
      throw make_error(ErrorCode::unsupported, "copying elements of ", element_bytes,
                       " bytes: they must have 1, 2, 4, 8 or 16");
  }
}

}  // namespace alate::cpu
