#include "backends/cpu/kernels/moving/move.h"

#include <vector>

#include "backends/cpu/kernels/moving/move_axes.h"
#include "backends/cpu/kernels/moving/moving_kernels.h"
#include "backends/cpu/kernels/moving/stream.h"
#include "backends/cpu/kernels/vectors/row_split.h"

namespace alate::cpu {
namespace {

// Rows of more elements than this are split among workers.
constexpr std::size_t kPiece = std::size_t{1} << 14;

// Copies rows one after the other; long dense rows bypass the caches if the total is too large for them.
class RowMover {
 public:
  explicit RowMover(std::size_t bytes) : stream_(bytes >= kStreamedBytes ? &moving_kernels().stream : nullptr) {}

  template <typename T>
  void operator()(const T* from, std::ptrdiff_t in_step, T* to, std::ptrdiff_t out_step, std::size_t width) const {
    constexpr std::size_t kLongBytes = 512;
    if (stream_ != nullptr && in_step == 1 && out_step == 1 && width * sizeof(T) >= kLongBytes)
      stream_->copy(from, to, width * sizeof(T));
    else
      move_row(from, in_step, to, out_step, width);
  }
  /// To be called after a thread's last row.
  void finish() const {
    if (stream_ != nullptr) stream_->finish();
  }

 private:
  const StreamKernel* stream_;
};

template <typename T>
void move_typed(const T* in, T* out, MoveAxes axes, base::ThreadPool& pool, std::size_t max_workers) {
  if (axes.rank == 0) axes.push(1, 1, 1);
  --axes.rank;
  const std::size_t width = axes.dims[axes.rank];
  const std::ptrdiff_t in_step = axes.in[axes.rank], out_step = axes.out[axes.rank];
  const std::size_t pieces = (width + kPiece - 1) / kPiece;
  const RowMover move(axes.count() * width * sizeof(T));
  split_rows(axes.count() * pieces, std::min(width, kPiece) + 4, pool, max_workers,
             [&](std::size_t begin, std::size_t end) {
               MoveWalk row(axes, begin / pieces);
               for (std::size_t index = begin; index < end; row.next()) {
                 const std::size_t piece = index % pieces, stop = std::min(pieces, piece + end - index);
                 const auto first = static_cast<std::ptrdiff_t>(piece * kPiece);
                 move(in + row.in() + first * in_step, in_step, out + row.out() + first * out_step, out_step,
                      std::min(width, stop * kPiece) - piece * kPiece);
                 index += stop - piece;
               }
               move.finish();
             });
}

bool is_aligned(const void* pointer, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(pointer) % bytes == 0;
}

/// Merges a short last axis, dense on both sides, into one wider element. Returns the resulting element size.
std::size_t widen(MoveAxes& axes, std::size_t element_bytes, const void* in, const void* out) {
  if (axes.rank < 2) return element_bytes;
  const std::size_t last = axes.rank - 1, bytes = axes.dims[last] * element_bytes;
  if (axes.in[last] != 1 || axes.out[last] != 1 || (bytes != 2 && bytes != 4 && bytes != 8 && bytes != 16))
    return element_bytes;
  // 16-byte elements move as two 8-byte words.
  if (!is_aligned(in, std::min<std::size_t>(bytes, 8)) || !is_aligned(out, std::min<std::size_t>(bytes, 8)))
    return element_bytes;
  const auto width = static_cast<std::ptrdiff_t>(axes.dims[last]);
  for (std::size_t i = 0; i < last; ++i) {
    if (axes.in[i] % width != 0 || axes.out[i] % width != 0) return element_bytes;
  }
  for (std::size_t i = 0; i < last; ++i) {
    axes.in[i] /= width;
    axes.out[i] /= width;
  }
  --axes.rank;
  return bytes;
}

template <typename T>
void gather_typed(const GatherWindows& a, const MoveAxes& batches, MoveAxes window, base::ThreadPool& pool,
                  std::size_t max_workers) {
  if (window.rank == 0) window.push(1, 1, 1);
  const std::size_t size = window.count();
  --window.rank;
  const std::size_t width = window.dims[window.rank], rows = window.count();
  const std::ptrdiff_t in_step = window.in[window.rank], out_step = window.out[window.rank];
  const T* in = static_cast<const T*>(a.in);
  T* out = static_cast<T*>(a.out);
  const RowMover move(batches.count() * size * sizeof(T));
  split_rows(batches.count(), size / 2 + 4, pool, max_workers, [&](std::size_t begin, std::size_t end) {
    MoveWalk batch(batches, begin);
    for (std::size_t n = begin; n < end; ++n, batch.next()) {
      const T* from = in + a.places[n];
      T* to = out + batch.out();
      if (size == 1) {
        *to = *from;
      } else if (rows == 1) {
        move(from, in_step, to, out_step, width);
      } else {
        MoveWalk row(window, 0);
        for (std::size_t i = 0; i < rows; ++i, row.next())
          move(from + row.in(), in_step, to + row.out(), out_step, width);
      }
    }
    move.finish();
  });
}

}  // namespace

void move_strided(const void* in, std::span<const std::ptrdiff_t> in_strides, void* out,
                  std::span<const std::ptrdiff_t> out_strides, std::span<const std::size_t> dims,
                  std::size_t element_bytes, base::ThreadPool& pool, std::size_t max_workers) {
  MoveAxes axes = merge_move_axes(dims, in_strides, out_strides);
  if (axes.count() == 0) return;
  with_element_type(widen(axes, element_bytes, in, out), [&]<typename T>(T) {
    move_typed(static_cast<const T*>(in), static_cast<T*>(out), axes, pool, max_workers);
  });
}

void move_bytes(const void* in, void* out, std::size_t bytes, base::ThreadPool& pool, std::size_t max_workers) {
  if (in == out) return;
  constexpr std::size_t kBlock = std::size_t{1} << 16;
  split_rows((bytes + kBlock - 1) / kBlock, kBlock / 4, pool, max_workers, [&](std::size_t begin, std::size_t end) {
    const RowMover move(bytes);
    move(static_cast<const std::byte*>(in) + begin * kBlock, 1, static_cast<std::byte*>(out) + begin * kBlock, 1,
         std::min(end * kBlock, bytes) - begin * kBlock);
    move.finish();
  });
}

void fill_elements(void* out, const void* element, std::size_t element_bytes, std::size_t count, base::ThreadPool& pool,
                   std::size_t max_workers) {
  const std::ptrdiff_t in_strides[] = {0}, out_strides[] = {1};
  const std::size_t dims[] = {count};
  move_strided(element, in_strides, out, out_strides, dims, element_bytes, pool, max_workers);
}

void gather_windows(const GatherWindows& arguments, base::ThreadPool& pool, std::size_t max_workers) {
  const std::vector<std::ptrdiff_t> nowhere(arguments.batch_dims.size(), 0);
  const MoveAxes batches = merge_move_axes(arguments.batch_dims, nowhere, arguments.batch_strides);
  const MoveAxes window =
      merge_move_axes(arguments.window_dims, arguments.window_in_strides, arguments.window_out_strides);
  const std::size_t count = batches.count();
  if (count == 0 || window.count() == 0) return;
  with_element_type(arguments.element_bytes, [&]<typename T>(T) {
    if (count >= 4 || window.count() < kPiece) return gather_typed<T>(arguments, batches, window, pool, max_workers);
    MoveWalk batch(batches, 0);
    for (std::size_t n = 0; n < count; ++n, batch.next()) {
      move_typed(static_cast<const T*>(arguments.in) + arguments.places[n],
                 static_cast<T*>(arguments.out) + batch.out(), window, pool, max_workers);
    }
  });
}

}  // namespace alate::cpu
