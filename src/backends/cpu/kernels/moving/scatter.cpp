#include "backends/cpu/kernels/moving/scatter.h"

#include <algorithm>

#include "alate/error.h"
#include "backends/cpu/kernels/elementwise/combine.h"
#include "backends/cpu/kernels/moving/move_axes.h"
#include "backends/cpu/kernels/vectors/row_split.h"

namespace alate::cpu {
namespace {

// Applies the parts of the runs that fall into elements [begin, end) of the result.
template <typename T, typename Combine>
void apply_runs(const ScatterArguments& a, std::int64_t begin, std::int64_t end, const Combine& combine) {
  const T* updates = static_cast<const T*>(a.updates);
  T* out = static_cast<T*>(a.out);
  for (std::size_t n = 0; n < a.count; ++n) {
    const ScatterRun& run = a.runs[n];
    const std::int64_t first = std::max(run.to, begin), last = std::min(run.to + run.length, end);
    if (first < last) combine(out + first, updates + run.from + (first - run.to), last - first);
  }
}

template <typename T, typename Combine>
void split_result(const ScatterArguments& a, base::ThreadPool& pool, std::size_t max_workers, const Combine& combine) {
  const std::size_t workers = max_workers == 0 ? pool.size() : std::min(max_workers, pool.size());
  const std::size_t parts = std::max<std::size_t>(1, std::min(workers, a.out_count));
  const auto place = [&](std::size_t part) { return static_cast<std::int64_t>(a.out_count * part / parts); };
  split_rows(parts, (a.update_count + 2 * a.count) / parts, pool, max_workers,
             [&](std::size_t begin, std::size_t end) { apply_runs<T>(a, place(begin), place(end), combine); });
}

// Combines element by element, by a function of the old value and the update.
template <typename T, typename Join>
void split_joined(const ScatterArguments& a, base::ThreadPool& pool, std::size_t max_workers, const Join& join) {
  split_result<T>(a, pool, max_workers, [&](T* to, const T* from, std::int64_t length) {
    for (std::int64_t i = 0; i < length; ++i) to[i] = join(to[i], from[i]);
  });
}

}  // namespace

void scatter(ScatterOp op, DType dtype, const ScatterArguments& a, base::ThreadPool& pool, std::size_t max_workers) {
  bool is_known = true;
  switch (op) {
    case ScatterOp::set:
      with_element_type(bytes_for(dtype, 1), [&]<typename T>(T) {
        split_result<T>(a, pool, max_workers, [](T* to, const T* from, std::int64_t length) {
          if (length == 1) {
            *to = *from;
          } else {
            std::memcpy(to, from, static_cast<std::size_t>(length) * sizeof(T));
          }
        });
      });
      break;
    case ScatterOp::sum:
      if (dtype == DType::boolean) {
        split_joined<std::uint8_t>(a, pool, max_workers,
                                   [](std::uint8_t x, std::uint8_t y) { return static_cast<std::uint8_t>(x | y); });
        break;
      }
      is_known = with_number_type(dtype, [&]<typename T>(T) { split_joined<T>(a, pool, max_workers, sum_of<T>); });
      break;
    case ScatterOp::max:
      is_known = with_ordered_type(dtype, [&]<typename T>(T) { split_joined<T>(a, pool, max_workers, larger<T>); });
      break;
    case ScatterOp::min:
      is_known = with_ordered_type(dtype, [&]<typename T>(T) { split_joined<T>(a, pool, max_workers, smaller<T>); });
      break;
  }
  if (!is_known) throw make_error(ErrorCode::internal, "scatter has no loop for ", to_string(dtype));
}

}  // namespace alate::cpu
