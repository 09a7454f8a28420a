#include <algorithm>

#include "graph/operands.h"
#include "graph/reference/call.h"
#include "graph/reference/values.h"

namespace alate::graph {

Tensor reference_rope(const ReferenceCall& call) {
  const Rope& rope = call.as<Rope>();
  const auto given = RopeOperands<Tensor>::of(rope, call.operands);
  std::vector<double> x = load_floats(given.x);
  const Tensor& table = given.cosines;
  const std::vector<double> cosines = load_floats(table), sines = load_floats(given.sines);
  const std::vector<std::int64_t> positions =
      given.positions ? load_indices(*given.positions) : std::vector<std::int64_t>();
  const std::size_t rank = call.shape().rank();
  const auto width = static_cast<std::size_t>(given.x.extent(rank - 1)),
             heads = static_cast<std::size_t>(given.x.extent(rank - 2)),
             half = static_cast<std::size_t>(table.extent(table.rank() - 1));
  for (std::size_t head = 0; half > 0 && head * width < x.size(); ++head) {
    const std::size_t token = head / heads;
    const std::size_t row =
        given.positions ? static_cast<std::size_t>(std::clamp<std::int64_t>(positions[token], 0, table.extent(0) - 1))
                        : token;
    for (std::size_t i = 0; i < half; ++i) {
      double& first = x[head * width + (rope.interleaved ? 2 * i : i)];
      double& second = x[head * width + (rope.interleaved ? 2 * i + 1 : i + half)];
      const double cosine = cosines[row * half + i], sine = sines[row * half + i], before = first;
      first = before * cosine - second * sine;
      second = second * cosine + before * sine;
    }
  }
  return store_floats(call.shape(), x);
}

}  // namespace alate::graph
