#include "backends/cpu/kernels/moving/scatter_window.h"

#include <algorithm>
#include <type_traits>

#include "alate/error.h"
#include "backends/cpu/kernels/vectors/row_split.h"

namespace alate::cpu {
namespace {

template <typename T>
T wrapped_sum(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(static_cast<U>(a) + static_cast<U>(b)));
  } else {
    return a + b;
  }
}

// The range of a window that lies within its axis.
struct Range {
  std::size_t begin, end;
};
Range seen(const SelectAxis& axis, std::size_t place) {
  const std::int64_t start = static_cast<std::int64_t>(place) * axis.stride - axis.low;
  const std::int64_t extent = static_cast<std::int64_t>(axis.extent);
  const std::int64_t begin = std::clamp<std::int64_t>(start, 0, extent);
  const std::int64_t end = std::clamp<std::int64_t>(start + static_cast<std::int64_t>(axis.window), begin, extent);
  return {static_cast<std::size_t>(begin), static_cast<std::size_t>(end)};
}

// Advances to the next position, last axis fastest; returns false after the last.
bool advance(const Range* ranges, std::size_t rank, std::size_t* at) {
  for (std::size_t axis = rank; axis-- > 0;) {
    if (++at[axis] < ranges[axis].end) return true;
    at[axis] = ranges[axis].begin;
  }
  return false;
}

template <typename T>
class Scatterer {
 public:
  explicit Scatterer(const SelectAndScatter& arguments) : s_(arguments) {
    for (std::size_t axis = 0; axis < s_.rank; ++axis) {
      elements_ *= s_.axes[axis].extent;
      windows_ *= s_.axes[axis].count;
    }
  }

  std::size_t cost() const { return (elements_ + 8 * windows_) * s_.inner; }

  void run(std::size_t outer) const {
    const T* x = static_cast<const T*>(s_.x) + outer * elements_ * s_.inner;
    const T* source = static_cast<const T*>(s_.source) + outer * windows_ * s_.inner;
    T* out = static_cast<T*>(s_.out) + outer * elements_ * s_.inner;
    std::fill_n(out, elements_ * s_.inner, T(0));
    if (windows_ == 0) return;
    std::size_t place[kMostSelectAxes] = {};
    Range all[kMostSelectAxes], window[kMostSelectAxes];
    for (std::size_t axis = 0; axis < s_.rank; ++axis) all[axis] = {0, s_.axes[axis].count};
    do {
      bool sees_any = true;
      for (std::size_t axis = 0; axis < s_.rank; ++axis) {
        window[axis] = seen(s_.axes[axis], place[axis]);
        sees_any = sees_any && window[axis].begin < window[axis].end;
      }
      for (std::size_t i = 0; sees_any && i < s_.inner; ++i) {
        const std::size_t chosen = select(x + i, window) * s_.inner + i;
        out[chosen] = wrapped_sum(out[chosen], source[i]);
      }
      source += s_.inner;
    } while (advance(all, s_.rank, place));
  }

 private:
  std::size_t select(const T* x, const Range* window) const {
    std::size_t at[kMostSelectAxes];
    for (std::size_t axis = 0; axis < s_.rank; ++axis) at[axis] = window[axis].begin;
    const std::size_t last = s_.rank - 1;
    std::size_t selected = SIZE_MAX;
    T best{};
    // Rows of the window: the inner loop walks its last axis.
    Range rows[kMostSelectAxes];
    std::copy_n(window, last, rows);
    do {
      std::size_t offset = 0;
      for (std::size_t axis = 0; axis < last; ++axis) offset = (offset + at[axis]) * s_.axes[axis + 1].extent;
      for (std::size_t i = window[last].begin; i < window[last].end; ++i) {
        const T value = x[(offset + i) * s_.inner];
        const bool stays = selected != SIZE_MAX && (s_.is_max ? best >= value : best <= value);
        if (stays) continue;
        selected = offset + i;
        best = value;
      }
    } while (advance(rows, last, at));
    return selected;
  }

  const SelectAndScatter& s_;
  std::size_t elements_ = 1, windows_ = 1;
};

template <typename T>
void scatter(const SelectAndScatter& arguments, base::ThreadPool& pool, std::size_t max_workers) {
  const Scatterer<T> scatterer(arguments);
  split_rows(arguments.outer, scatterer.cost(), pool, max_workers, [&](std::size_t begin, std::size_t end) {
    for (std::size_t outer = begin; outer < end; ++outer) scatterer.run(outer);
  });
}

}  // namespace

void select_and_scatter(DType dtype, const SelectAndScatter& arguments, base::ThreadPool& pool,
                        std::size_t max_workers) {
  switch (dtype) {
    case DType::i8: return scatter<std::int8_t>(arguments, pool, max_workers);
    case DType::i16: return scatter<std::int16_t>(arguments, pool, max_workers);
    case DType::i32: return scatter<std::int32_t>(arguments, pool, max_workers);
    case DType::i64: return scatter<std::int64_t>(arguments, pool, max_workers);
    case DType::u8: return scatter<std::uint8_t>(arguments, pool, max_workers);
    case DType::u16: return scatter<std::uint16_t>(arguments, pool, max_workers);
    case DType::u32: return scatter<std::uint32_t>(arguments, pool, max_workers);
    case DType::u64: return scatter<std::uint64_t>(arguments, pool, max_workers);
    case DType::f32: return scatter<float>(arguments, pool, max_workers);
    case DType::f64: return scatter<double>(arguments, pool, max_workers);
    default: throw make_error(ErrorCode::internal, "select_and_scatter has no loop for ", to_string(dtype));
  }
}

}  // namespace alate::cpu
