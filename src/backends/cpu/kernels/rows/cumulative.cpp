#include "backends/cpu/kernels/rows/cumulative.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "alate/error.h"
#include "backends/cpu/kernels/elementwise/combine.h"
#include "backends/cpu/kernels/vectors/row_split.h"

namespace alate::cpu {
namespace {

// Columns processed together where the axis is not the last.
constexpr std::size_t kColumns = 64;

// The type that sums and products are computed in.
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

// Splits the [outer, inner] lines, numbered consecutively, into blocks of columns that never cross an outer row.
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
    // The limits of a narrower type: this type's extremes with fewer bits.
    const std::size_t unused = sizeof(T) * 8 - bits_of(limits);
    return static_cast<T>((lowest ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max()) >> unused);
  }
}

template <typename T>
using LaneOf = std::conditional_t<sizeof(T) == 1, std::uint8_t,
                                  std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                                     std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

// Rows per block: few enough that row numbers fit a lane of any type.
constexpr std::size_t kRows = 127;

template <typename T>
bool is_more_extreme(T value, T champion, bool is_min) {
  return is_min ? value < champion : champion < value;
}

// For each of `width` columns, the first extreme of `rows` rows and its row; branch-free, so that compilers vectorize:
// rows are counted in integers of the elements' size.
template <typename T, bool kIsMin>
void find_in_columns(const T* x, std::size_t stride, std::size_t rows, std::size_t width, T* best, LaneOf<T>* places) {
  for (std::size_t i = 0; i < width; ++i) {
    best[i] = x[i];
    places[i] = 0;
  }
  for (std::size_t row = 1; row < rows; ++row) {
    const T* values = x + row * stride;
    for (std::size_t i = 0; i < width; ++i) {
      const T value = values[i], champion = best[i];
      const bool wins = (champion == champion) & ((value != value) | (kIsMin ? value < champion : champion < value));
      best[i] = wins ? value : champion;
      places[i] = wins ? static_cast<LaneOf<T>>(row) : places[i];
    }
  }
}

template <typename T>
struct Champion {
  T value;
  std::uint64_t place;

  // Merges in a value at another index, in any order.
  void meet(T other, std::uint64_t at, bool is_min) {
    const bool is_nan = value != value, other_is_nan = other != other;
    const bool is_tie = is_nan ? other_is_nan : other == value;
    const bool wins = is_tie ? at < place : !is_nan && (other_is_nan || is_more_extreme(other, value, is_min));
    if (wins) *this = {other, at};
  }
};

// Treats a line as rows of kColumns columns, plus a remainder.
template <typename T, bool kIsMin>
std::uint64_t find_in_line(const T* x, std::size_t length) {
  Champion<T> champion{x[0], 0};
  std::size_t first = 0;
  for (; length - first >= kColumns; first += std::min(kRows, (length - first) / kColumns) * kColumns) {
    T best[kColumns];
    LaneOf<T> places[kColumns];
    find_in_columns<T, kIsMin>(x + first, kColumns, std::min(kRows, (length - first) / kColumns), kColumns, best,
                               places);
    for (std::size_t i = 0; i < kColumns; ++i) champion.meet(best[i], first + places[i] * kColumns + i, kIsMin);
  }
  for (; first < length; ++first) champion.meet(x[first], first, kIsMin);
  return champion.place;
}

// Splits a long line into a fixed number of pieces, whatever the number of threads.
template <typename T, bool kIsMin>
std::uint64_t find_in_long_line(const T* x, std::size_t length, base::ThreadPool& pool, std::size_t max_workers) {
  constexpr std::size_t kPieces = 32;
  std::uint64_t places[kPieces];
  const auto start = [&](std::size_t piece) { return length * piece / kPieces; };
  split_rows(kPieces, length / kPieces * 2, pool, max_workers, [&](std::size_t begin, std::size_t end) {
    for (std::size_t piece = begin; piece < end; ++piece)
      places[piece] = start(piece) + find_in_line<T, kIsMin>(x + start(piece), start(piece + 1) - start(piece));
  });
  Champion<T> champion{x[places[0]], places[0]};
  for (const std::uint64_t place : places) champion.meet(x[place], place, kIsMin);
  return champion.place;
}

template <typename T, bool kIsMin>
void find_places(const ArgExtremeArguments& a, base::ThreadPool& pool, std::size_t max_workers) {
  const T* x = static_cast<const T*>(a.x);
  constexpr std::size_t kLong = std::size_t{1} << 16;
  if (a.inner == 1 && a.outer <= 4 && a.length >= kLong) {
    for (std::size_t line = 0; line < a.outer; ++line) {
      const std::uint64_t place = find_in_long_line<T, kIsMin>(x + line * a.length, a.length, pool, max_workers);
      std::memcpy(static_cast<std::byte*>(a.out) + line * a.place_bytes, &place, a.place_bytes);
    }
    return;
  }
  split_lines(a.outer, a.length, a.inner, pool, max_workers,
              [&](std::size_t first, std::size_t line, std::size_t width) {
                std::uint64_t found[kColumns] = {};
                if (a.length > 0 && a.inner == 1) {
                  found[0] = find_in_line<T, kIsMin>(x + first, a.length);
                } else if (a.length > 0) {
                  T best[kColumns];
                  LaneOf<T> places[kColumns];
                  Champion<T> champions[kColumns];
                  for (std::size_t row = 0; row < a.length; row += kRows) {
                    find_in_columns<T, kIsMin>(x + first + row * a.inner, a.inner, std::min(kRows, a.length - row),
                                               width, best, places);
                    for (std::size_t i = 0; i < width; ++i) {
                      if (row == 0) {
                        champions[i] = {best[i], places[i]};
                      } else {
                        champions[i].meet(best[i], row + places[i], kIsMin);
                      }
                      found[i] = champions[i].place;
                    }
                  }
                }
                for (std::size_t i = 0; i < width; ++i)
                  std::memcpy(static_cast<std::byte*>(a.out) + (line + i) * a.place_bytes, &found[i], a.place_bytes);
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
  if (!with_ordered_type(dtype == DType::boolean ? DType::u8 : dtype, [&]<typename T>(T) {
        a.is_min ? find_places<T, true>(a, pool, max_workers) : find_places<T, false>(a, pool, max_workers);
      }))
    throw make_error(ErrorCode::internal, "arg_extreme has no loop for ", to_string(dtype));
}

}  // namespace alate::cpu
