#include <algorithm>
#include <cmath>

#include "graph/reference/call.h"
#include "graph/reference/extremes.h"
#include "graph/reference/values.h"

namespace alate::graph {
namespace {

// The weight of the token at `place` in a sequence of `length`, as in sentence-transformers' Pooling module.
double weight_of(PoolMode mode, std::int64_t place, std::int64_t length) {
  const auto count = static_cast<double>(length);
  switch (mode) {
    case PoolMode::mean: return 1 / count;
    case PoolMode::mean_sqrt_len: return 1 / std::sqrt(count);
    case PoolMode::weighted_mean: return static_cast<double>(place + 1) / (count * (count + 1) / 2);
    case PoolMode::cls: return place == 0 ? 1 : 0;
    case PoolMode::last: return place == length - 1 ? 1 : 0;
    case PoolMode::max: return 1;
  }
  return 0;
}

}  // namespace

Tensor reference_ragged_pool(const ReferenceCall& call) {
  const Pool& pool = call.as<Pool>();
  const std::vector<double> x = load_floats(call.operand(0));
  const std::vector<std::int64_t> starts = load_indices(call.operand(1)), lengths = load_indices(call.operand(2));
  const std::int64_t tokens = call.operand(0).extent(0), width = call.operand(0).extent(1),
                     longest = call.extent(pool.longest);
  std::vector<double> result(static_cast<std::size_t>(call.shape().element_count()));
  for (std::size_t i = 0; i < starts.size(); ++i) {
    call.require(starts[i] >= 0 && lengths[i] >= 0 && lengths[i] <= longest && starts[i] + lengths[i] <= tokens,
                 "a sequence's start and length reach outside the tokens or past the longest sequence");
    for (std::int64_t place = 0; place < lengths[i]; ++place) {
      const double weight = weight_of(pool.mode, place, lengths[i]);
      if (weight == 0) continue;  // an unselected token must not propagate NaN
      const double* const row = x.data() + (starts[i] + place) * width;
      double* const out = result.data() + static_cast<std::int64_t>(i) * width;
      for (std::int64_t column = 0; column < width; ++column) {
        const bool is_larger_of_two = pool.mode == PoolMode::max && place > 0;
        out[column] = is_larger_of_two ? larger(out[column], row[column]) : out[column] + weight * row[column];
      }
    }
  }
  return store_floats(call.shape(), result);
}

}  // namespace alate::graph
