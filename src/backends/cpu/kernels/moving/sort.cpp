#include "backends/cpu/kernels/moving/sort.h"

#include <algorithm>
#include <array>
#include <utility>

#include "backends/cpu/kernels/moving/move_axes.h"
#include "backends/cpu/kernels/vectors/row_split.h"

namespace alate::cpu {
namespace {

// Maps keys to unsigned numbers (ranks) in the same order.
class Ranks {
 public:
  explicit Ranks(const KeyOrder& order)
      : sign_(std::uint64_t{1} << (bits_of(order.dtype) - 1)),
        all_(sign_ | (sign_ - 1)),
        flip_(is_signed_integer(order.dtype) ? sign_ : 0),
        is_float_(is_float(order.dtype)),
        joins_zeros_(is_float_ && !order.is_total),
        inverted_(order.descending ? all_ : 0) {
    if (!joins_zeros_) return;
    const std::uint64_t infinity = order.dtype == DType::f16    ? 0x7C00
                                   : order.dtype == DType::bf16 ? 0x7F80
                                   : order.dtype == DType::f32  ? 0x7F800000
                                                                : 0x7FF0000000000000;
    lowest_ = ~(infinity | sign_) & all_;
    highest_ = infinity | sign_;
  }

  std::uint64_t operator()(std::uint64_t bits) const {
    if (!is_float_) return bits ^ flip_ ^ inverted_;
    if (joins_zeros_ && bits == sign_) bits = 0;
    return ((bits & sign_) != 0 ? ~bits & all_ : bits | sign_) ^ inverted_;
  }
  /// Whether a rank made here is that of a NaN.
  bool is_nan(std::uint64_t rank) const {
    return joins_zeros_ && ((rank ^ inverted_) < lowest_ || (rank ^ inverted_) > highest_);
  }

 private:
  std::uint64_t sign_, all_, flip_;
  bool is_float_, joins_zeros_;
  std::uint64_t inverted_;
  std::uint64_t lowest_ = 0, highest_ = ~std::uint64_t{0};  // ranks of non-NaN keys
};

// A key's rank and its index. Ranks of at most 32 bits share one number with the index, so that all entries differ.
struct NarrowEntry {
  using Key = std::uint32_t;
  std::uint64_t bits;
  static NarrowEntry of(std::uint64_t rank, std::size_t place) { return {rank << 32 | place}; }
  std::uint64_t rank() const { return bits >> 32; }
  std::size_t place() const { return bits & 0xFFFFFFFF; }
  bool operator<(const NarrowEntry& other) const { return bits < other.bits; }
};
struct WideEntry {
  using Key = std::uint64_t;
  std::uint64_t key, at;
  static WideEntry of(std::uint64_t rank, std::size_t place) { return {rank, place}; }
  std::uint64_t rank() const { return key; }
  std::size_t place() const { return at; }
  bool operator<(const WideEntry& other) const { return key != other.key ? key < other.key : at < other.at; }
};

bool is_narrow(DType dtype, std::size_t length) { return bits_of(dtype) <= 32 && length <= UINT32_MAX; }

// Stable radix sort by rank, byte by byte from the lowest; returns the array that holds the result. Bytes that are the
// same in all entries are skipped.
template <typename Entry>
Entry* radix_sort(Entry* entries, Entry* other, std::size_t count) {
  constexpr std::size_t kBytes = sizeof(typename Entry::Key);
  std::array<std::array<std::uint32_t, 256>, kBytes> counts{};
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t rank = entries[i].rank();
    for (std::size_t byte = 0; byte < kBytes; ++byte) ++counts[byte][rank >> (8 * byte) & 255];
  }
  for (std::size_t byte = 0; byte < kBytes; ++byte) {
    auto& starts = counts[byte];
    if (starts[entries[0].rank() >> (8 * byte) & 255] == count) continue;
    std::uint32_t start = 0;
    for (std::uint32_t& bucket : starts) start += std::exchange(bucket, start);
    for (std::size_t i = 0; i < count; ++i) other[starts[entries[i].rank() >> (8 * byte) & 255]++] = entries[i];
    std::swap(entries, other);
  }
  return entries;
}

template <typename Entry>
Entry* sort_entries(const KeyOrder& order, const Ranks& ranks, bool has_nan, Entry* entries, Entry* other,
                    std::size_t count) {
  const auto merge = [&](const auto& comes_before) {
    merge_sort(std::span(entries, count), std::span(other, count), comes_before);
    return entries;
  };
  if (has_nan) {
    return merge([&](const Entry& a, const Entry& b) {
      if (ranks.is_nan(a.rank()) || ranks.is_nan(b.rank())) return false;
      return order.or_equal ? a.rank() <= b.rank() : a.rank() < b.rank();
    });
  }
  // With or_equal, merging puts a later equal entry first: equal entries end up reversed.
  if (order.or_equal) std::reverse(entries, entries + count);
  constexpr std::size_t kFewerThanBuckets = 512;
  if (count > UINT32_MAX) return merge([](const Entry& a, const Entry& b) { return a.rank() < b.rank(); });
  if (count >= kFewerThanBuckets) return radix_sort(entries, other, count);
  if (order.or_equal) return merge([](const Entry& a, const Entry& b) { return a.rank() < b.rank(); });
  std::sort(entries, entries + count);
  return entries;
}

template <typename Entry>
void apply_order(const SortArguments& a, const Entry* entries, std::size_t first) {
  for (const SortOperand& operand : a.operands) {
    with_element_type(operand.element_bytes, [&]<typename T>(T) {
      const T* in = static_cast<const T*>(operand.in) + first;
      T* out = static_cast<T*>(operand.out) + first;
      for (std::size_t i = 0; i < a.length; ++i) out[i * a.inner] = in[entries[i].place() * a.inner];
    });
  }
}

template <typename Entry, typename T>
void sort_typed(const SortArguments& a, base::ThreadPool& pool, std::size_t max_workers) {
  const Ranks ranks(a.order);
  const T* keys = static_cast<const T*>(a.keys);
  const std::size_t bytes = sort_scratch_bytes(a.order.dtype, a.length);
  split_rows_by_worker(
      a.outer * a.inner, a.length * 16, pool, max_workers, [&](std::size_t begin, std::size_t end, std::size_t worker) {
        auto* entries = reinterpret_cast<Entry*>(a.scratch + worker * bytes);
        for (std::size_t line = begin; line < end; ++line) {
          const std::size_t first = line / a.inner * a.length * a.inner + line % a.inner;
          bool has_nan = false;
          for (std::size_t i = 0; i < a.length; ++i) {
            const std::uint64_t rank = ranks(keys[first + i * a.inner]);
            has_nan = has_nan || ranks.is_nan(rank);
            entries[i] = Entry::of(rank, i);
          }
          apply_order(a, sort_entries(a.order, ranks, has_nan, entries, entries + a.length, a.length), first);
        }
      });
}

// The k smallest entries by descending rank, in a heap with the largest of them on top.
template <typename Entry, typename T>
void top_k_typed(const TopKArguments& a, base::ThreadPool& pool, std::size_t max_workers) {
  const Ranks ranks({.dtype = a.dtype, .descending = true, .is_total = true});
  const T* x = static_cast<const T*>(a.x);
  T* values = static_cast<T*>(a.values);
  const std::size_t bytes = top_k_scratch_bytes(a.dtype, a.k);
  split_rows_by_worker(a.rows, a.length * 2, pool, max_workers,
                       [&](std::size_t begin, std::size_t end, std::size_t worker) {
                         auto* heap = reinterpret_cast<Entry*>(a.scratch + worker * bytes);
                         for (std::size_t row = begin; row < end; ++row) {
                           const T* from = x + row * a.length;
                           for (std::size_t i = 0; i < a.k; ++i) heap[i] = Entry::of(ranks(from[i]), i);
                           std::make_heap(heap, heap + a.k);
                           for (std::size_t i = a.k; i < a.length; ++i) {
                             const Entry entry = Entry::of(ranks(from[i]), i);
                             if (!(entry < heap[0])) continue;
                             std::pop_heap(heap, heap + a.k);
                             heap[a.k - 1] = entry;
                             std::push_heap(heap, heap + a.k);
                           }
                           std::sort_heap(heap, heap + a.k);
                           for (std::size_t i = 0; i < a.k; ++i) {
                             values[row * a.k + i] = from[heap[i].place()];
                             a.places[row * a.k + i] = static_cast<std::int32_t>(heap[i].place());
                           }
                         }
                       });
}

// Calls `function` with an entry and a value of the unsigned type of a key's size.
template <typename Function>
void with_key_type(DType dtype, std::size_t length, const Function& function) {
  with_element_type(bytes_for(dtype, 1), [&]<typename T>(T key) {
    if constexpr (sizeof(T) <= 8) {
      if (is_narrow(dtype, length)) {
        function(NarrowEntry{}, key);
      } else {
        function(WideEntry{}, key);
      }
    }
  });
}

}  // namespace

std::size_t sort_scratch_bytes(DType keys, std::size_t length) {
  return 2 * length * (is_narrow(keys, length) ? sizeof(NarrowEntry) : sizeof(WideEntry));
}

void sort_lines(const SortArguments& a, base::ThreadPool& pool, std::size_t max_workers) {
  if (a.length == 0) return;
  with_key_type(a.order.dtype, a.length,
                [&]<typename Entry, typename T>(Entry, T) { sort_typed<Entry, T>(a, pool, max_workers); });
}

std::size_t top_k_scratch_bytes(DType dtype, std::size_t k) {
  return k * (is_narrow(dtype, 0) ? sizeof(NarrowEntry) : sizeof(WideEntry));
}

void top_k(const TopKArguments& a, base::ThreadPool& pool, std::size_t max_workers) {
  if (a.k == 0) return;
  with_key_type(a.dtype, 0, [&]<typename Entry, typename T>(Entry, T) {  // places are i32: they fit
    top_k_typed<Entry, T>(a, pool, max_workers);
  });
}

}  // namespace alate::cpu
