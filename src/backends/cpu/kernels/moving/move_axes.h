// The axes of a copy between strided arrays, and a walk along them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "alate/error.h"

namespace alate::cpu {

constexpr std::size_t kMaxMoveRank = 16;

struct MoveAxes {
  std::size_t rank = 0;
  std::array<std::size_t, kMaxMoveRank> dims{};
  std::array<std::ptrdiff_t, kMaxMoveRank> in{}, out{};

  void push(std::size_t dim, std::ptrdiff_t in_stride, std::ptrdiff_t out_stride) {
    dims[rank] = dim;
    in[rank] = in_stride;
    out[rank++] = out_stride;
  }
  std::size_t count() const {
    std::size_t count = 1;
    for (std::size_t i = 0; i < rank; ++i) count *= dims[i];
    return count;
  }
};

/// Drops dimensions of 1 and merges neighbouring axes that are contiguous with each other on both sides.
inline MoveAxes merge_move_axes(std::span<const std::size_t> dims, std::span<const std::ptrdiff_t> in,
                                std::span<const std::ptrdiff_t> out) {
  if (dims.size() > kMaxMoveRank || in.size() != dims.size() || out.size() != dims.size()) {
    throw make_error(ErrorCode::unsupported, "copying an array of ", dims.size(), " dimensions: at most ", kMaxMoveRank,
                     " are possible, with one stride each");
  }
  MoveAxes axes;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 1) continue;
    const auto dim = static_cast<std::ptrdiff_t>(dims[i]);
    if (axes.rank > 0 && axes.in[axes.rank - 1] == in[i] * dim && axes.out[axes.rank - 1] == out[i] * dim) {
      axes.dims[axes.rank - 1] *= dims[i];
      axes.in[axes.rank - 1] = in[i];
      axes.out[axes.rank - 1] = out[i];
    } else {
      axes.push(dims[i], in[i], out[i]);
    }
  }
  return axes;
}

/// Walks all indices in row-major order, starting at the `first`-th.
class MoveWalk {
 public:
  MoveWalk(const MoveAxes& axes, std::size_t first) : axes_(axes) {
    for (std::size_t i = axes.rank; i-- > 0;) {
      if (axes.dims[i] == 0) return;  // empty
      index_[i] = first % axes.dims[i];
      first /= axes.dims[i];
      in_ += static_cast<std::ptrdiff_t>(index_[i]) * axes.in[i];
      out_ += static_cast<std::ptrdiff_t>(index_[i]) * axes.out[i];
    }
  }
  std::ptrdiff_t in() const { return in_; }
  std::ptrdiff_t out() const { return out_; }

  void next() {
    for (std::size_t i = axes_.rank; i-- > 0;) {
      in_ += axes_.in[i];
      out_ += axes_.out[i];
      if (++index_[i] < axes_.dims[i]) return;
      in_ -= static_cast<std::ptrdiff_t>(axes_.dims[i]) * axes_.in[i];
      out_ -= static_cast<std::ptrdiff_t>(axes_.dims[i]) * axes_.out[i];
      index_[i] = 0;
    }
  }

 private:
  const MoveAxes& axes_;
  std::array<std::size_t, kMaxMoveRank> index_{};
  std::ptrdiff_t in_ = 0, out_ = 0;
};

/// Copies along one axis. Constant strides let the compiler vectorize.
template <typename T>
void move_row(const T* from, std::ptrdiff_t in_step, T* to, std::ptrdiff_t out_step, std::size_t width) {
  const auto end = static_cast<std::ptrdiff_t>(width);
  if (out_step != 1) {
    for (std::ptrdiff_t i = 0; i < end; ++i) to[i * out_step] = from[i * in_step];
  } else if (in_step == 1) {
    std::memcpy(to, from, width * sizeof(T));
  } else if (in_step == 0) {
    std::fill_n(to, width, *from);
  } else if (in_step == -1) {
    for (std::ptrdiff_t i = 0; i < end; ++i) to[i] = from[-i];
  } else {
    for (std::ptrdiff_t i = 0; i < end; ++i) to[i] = from[i * in_step];
  }
}

/// Calls `function` with a value of the type that has an element's size.
template <typename Function>
void with_element_type(std::size_t bytes, const Function& function) {
  switch (bytes) {
    case 1: return function(std::uint8_t{});
    case 2: return function(std::uint16_t{});
    case 4: return function(std::uint32_t{});
    case 8: return function(std::uint64_t{});
    case 16: return function(std::array<std::uint64_t, 2>{});
    default:
      throw make_error(ErrorCode::unsupported, "copying elements of ", bytes,
                       " bytes: they must have 1, 2, 4, 8 or 16");
  }
}

}  // namespace alate::cpu
