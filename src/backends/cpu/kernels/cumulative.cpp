#include "backends/cpu/kernels/cumulative.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "alate/error.h"
#include "backends/cpu/kernels/combine.h"
#include "backends/cpu/kernels/row_split.h"

namespace alate::cpu {
namespace {

// Columns that are taken along together where the axis is not the last one.
constexpr std::size_t kColumns = 64;

// What sums and products of a type are computed in.
template <typename T>
struct Accumulator {
  using Type = T;
};
template <>
struct Accumulator<float> {
  using Type = double;
};
template <>
struct Accumulator<std::complex<float>> {
  using Type = std::complex<double>;
};

// Columns [begin, end) of all [outer, inner] lines, counted through; blocks of columns never cross an outer row.
template <typename Run>
void split_lines(std::size_t outer, std::size_t length, std::size_t inner, base::ThreadPool& pool,
                 std::size_t max_workers, const Run& run) {
  const std::size_t blocks = (inner + kColumns - 1) / kColumns;
  split_rows(outer * blocks, length * std::min(inner, kColumns) * 2, pool, max_workers,
             [&](std::size_t begin, std::size_t end) {
               for (std::size_t i = begin; i < end; ++i) {
                 const std::size_t column = i % blocks * kColumns;
                 run(i / blocks * length * inner + column, i / blocks * inner + column,
                     std::min(kColumns, inner - column));
               }
             });
}

template <typename T, typename Sum, typename Combine>
void run_lines(const CumulativeArguments& a, Sum start, base::ThreadPool& pool, std::size_t max_workers,
               const Combine& combine) {
  const T* x = static_cast<const T*>(a.x);
  T* out = static_cast<T*>(a.out);
  split_lines(a.outer, a.length, a.inner, pool, max_workers, [&](std::size_t first, std::size_t, std::size_t width) {
    if (width == 1) {  // the sum stays in a register
      Sum sum = start;
      for (std::size_t i = 0; i < a.length; ++i) {
        const std::size_t place = first + (a.reverse ? a.length - 1 - i : i) * a.inner;
        const Sum before = sum;
        sum = combine(before, static_cast<Sum>(x[place]));
        out[place] = static_cast<T>(a.exclusive ? before : sum);
      }
      return;
    }
    Sum sums[kColumns];
    std::fill_n(sums, width, start);
    for (std::size_t i = 0; i < a.length; ++i) {
      const std::size_t place = first + (a.reverse ? a.length - 1 - i : i) * a.inner;
      for (std::size_t column = 0; column < width; ++column) {
        const Sum before = sums[column];
        sums[column] = combine(before, static_cast<Sum>(x[place + column]));
        out[place + column] = static_cast<T>(a.exclusive ? before : sums[column]);
      }
    }
  });
}

template <typename T>
T limit_of(DType limits, bool lowest) {
  if constexpr (std::is_floating_point_v<T>) {
    return lowest ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();
  } else {
    // Of a narrower type in this one: the extremes with as many bits less.
    const std::size_t unused = sizeof(T) * 8 - bits_of(limits);
    return static_cast<T>((lowest ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max()) >> unused);
  }
}

template <typename T>
std::uint64_t find_place(const ArgExtremeArguments& a, const T* x) {
  std::uint64_t place = 0;
  for (std::size_t i = 0; i < a.length; ++i) {
    const T value = x[i * a.inner], champion = x[place * a.inner];
    if (value != value) return i;
    if (a.is_min ? value < champion : champion < value) place = i;
  }
  return place;
}

template <typename T>
void find_places(const ArgExtremeArguments& a, base::ThreadPool& pool, std::size_t max_workers) {
  const T* x = static_cast<const T*>(a.x);
  split_lines(
      a.outer, a.length, a.inner, pool, max_workers, [&](std::size_t first, std::size_t line, std::size_t width) {
        T best[kColumns] = {};
        std::uint64_t places[kColumns] = {};
        if (width == 1) {
          places[0] = find_place(a, x + first);
          std::memcpy(static_cast<std::byte*>(a.out) + line * a.place_bytes, places, a.place_bytes);
          return;
        }
        for (std::size_t i = 0; i < a.length; ++i) {
          const T* values = x + first + i * a.inner;
          for (std::size_t column = 0; column < width; ++column) {
            const T value = values[column], champion = best[column];
            const bool is_more_extreme = a.is_min ? value < champion : champion < value;
            const bool wins = i == 0 || (champion == champion && (value != value || is_more_extreme));
            best[column] = wins ? value : champion;
            places[column] = wins ? i : places[column];
          }
        }
        for (std::size_t column = 0; column < width; ++column)
          std::memcpy(static_cast<std::byte*>(a.out) + (line + column) * a.place_bytes, &places[column], a.place_bytes);
      });
}

}  // namespace

void cumulative(CumulativeOp op, DType dtype, const CumulativeArguments& a, base::ThreadPool& pool,
                std::size_t max_workers) {
  bool is_known = true;
  if (dtype == DType::boolean) {
    using Byte = std::uint8_t;
    if (op == CumulativeOp::sum) {
      run_lines<Byte>(a, Byte{0}, pool, max_workers, [](Byte x, Byte y) { return static_cast<Byte>(x | y); });
    } else {
      run_lines<Byte>(a, Byte{1}, pool, max_workers, [](Byte x, Byte y) { return static_cast<Byte>(x & y); });
    }
  } else if (op == CumulativeOp::sum) {
    is_known = with_number_type(dtype, [&]<typename T>(T) {
      using Sum = typename Accumulator<T>::Type;
      run_lines<T>(a, Sum{0}, pool, max_workers, sum_of<Sum>);
    });
  } else if (op == CumulativeOp::product) {
    is_known = with_number_type(dtype, [&]<typename T>(T) {
      using Sum = typename Accumulator<T>::Type;
      run_lines<T>(a, Sum{1}, pool, max_workers, product_of<Sum>);
    });
  } else {
    const bool is_max = op == CumulativeOp::max;
    is_known = with_ordered_type(dtype, [&]<typename T>(T) {
      const T start = limit_of<T>(a.limits, is_max);
      if (is_max) {
        run_lines<T>(a, start, pool, max_workers, larger<T>);
      } else {
        run_lines<T>(a, start, pool, max_workers, smaller<T>);
      }
    });
  }
  if (!is_known) throw make_error(ErrorCode::internal, "cumulative has no loop for ", to_string(dtype));
}

void arg_extreme(DType dtype, const ArgExtremeArguments& a, base::ThreadPool& pool, std::size_t max_workers) {
  if (!with_ordered_type(dtype == DType::boolean ? DType::u8 : dtype,
                         [&]<typename T>(T) { find_places<T>(a, pool, max_workers); }))
    throw make_error(ErrorCode::internal, "arg_extreme has no loop for ", to_string(dtype));
}

}  // namespace alate::cpu
