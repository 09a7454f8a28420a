#include "models/blocks/distance_scores.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "alate/error.h"
#include "graph/builder_functions.h"
#include "models/blocks/places.h"

namespace alate::models {
namespace {

using graph::Value;

constexpr std::int64_t kMaxHeads = 4096;  // beyond all models

// In float32, step by step as the reference.
std::int32_t bucket_of(std::int64_t key_minus_query, std::int64_t buckets, std::int64_t farthest) {
  const std::int64_t half = buckets / 2, exact = half / 2;
  const std::int64_t side = key_minus_query > 0 ? half : 0, distance = std::abs(key_minus_query);
  if (distance < exact) return static_cast<std::int32_t>(side + distance);
  const float far = std::log(static_cast<float>(distance) / static_cast<float>(exact)) /
                    static_cast<float>(std::log(static_cast<double>(farthest) / static_cast<double>(exact))) *
                    static_cast<float>(half - exact);
  return static_cast<std::int32_t>(side + std::min(half - 1, exact + static_cast<std::int64_t>(far)));
}

// Slopes of a number of heads that is a power of 2.
double slope_of(std::int64_t head, std::int64_t heads) {
  return std::exp2(-8.0 * static_cast<double>(head + 1) / static_cast<double>(heads));
}

}  // namespace

void add_scores(const std::optional<AddedScores>& scores, graph::RaggedAttentionOperands<>& operands) {
  if (scores) (scores->is_by_distance ? operands.key_distances : operands.bias) = scores->value;
}

AddedScores scores_of_distances(EncoderScope& scope, std::int64_t heads,
                                const std::function<Value(Value distance)>& scores_of) {
  graph::Builder& b = scope.b;
  b.set_source("distances");
  if (scope.in.by_place) {
    const Value scores = scores_of(b.neg({distances_of_places(scope)}));
    return {.value = b.transpose({scores}, {.permutation = {0, 3, 1, 2}})};
  }
  const Value scores = b.transpose({scores_of(distances_in_order(scope))}, {.permutation = {2, 0, 1}});
  return {.value = b.reshape({scores}, {.dims = {heads, 1, 2, scope.in.longest}}), .is_by_distance = true};
}

AddedScores learned_scores(EncoderScope& scope, const std::string& name, std::int64_t rows, std::int64_t buckets,
                           std::int64_t farthest, std::int64_t heads, std::int64_t places) {
  graph::Builder& b = scope.b;
  b.set_source(name);
  places = std::max(places, farthest + 2);  // a row with masked places may be longer than a sequence
  std::vector<std::int32_t> of_distance;    // from query - key = 1 - places on
  for (std::int64_t distance = 1 - places; distance < places; ++distance)
    of_distance.push_back(bucket_of(-distance, buckets, farthest));
  const Value table = scope.weights.get(b, name + ".weight", {rows, heads});
  const Value by_distance = graph::take_rows(
      b, table, b.constant(Tensor::from<std::int32_t>({static_cast<std::int64_t>(of_distance.size())}, of_distance)));
  return scores_of_distances(scope, heads, [&](Value distance) {
    const Value index = b.add({distance, graph::scalar_like(b, static_cast<double>(places - 1), distance)});
    return graph::take_rows(b, by_distance, index);  // which clamps
  });
}

std::vector<float> alibi_slopes(std::int64_t heads) {
  if (heads < 1 || heads > kMaxHeads)
    throw make_error(ErrorCode::corrupt, "config.json: ", heads, " heads of attention, which no model with alibi has");
  const auto lower = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(heads)));
  std::vector<float> slopes;
  for (std::int64_t i = 0; i < lower; ++i) slopes.push_back(static_cast<float>(slope_of(i, lower)));
  for (std::int64_t i = 0; i < heads - lower; ++i) slopes.push_back(static_cast<float>(slope_of(2 * i, 2 * lower)));
  return slopes;
}

AddedScores alibi_scores(EncoderScope& scope, std::int64_t heads) {
  std::vector<float> slopes = alibi_slopes(heads);
  for (float& slope : slopes) slope = -slope;
  return scores_of_distances(scope, heads, [&](Value distance) {
    graph::Builder& b = scope.b;
    graph::Dims dims = b.shape(distance).dims;
    const auto rank = static_cast<std::int64_t>(dims.size());
    dims.emplace_back(heads);
    graph::Numbers axes(static_cast<std::size_t>(rank));
    std::iota(axes.begin(), axes.end(), 0);
    const Value apart = b.convert({b.abs({distance})}, {.dtype = DType::f32});
    const Value by_head = b.constant(Tensor::from<float>({heads}, slopes));
    return b.mul({b.broadcast_in_dim({by_head}, {.dims = dims, .mapping = {rank}}),
                  b.broadcast_in_dim({apart}, {.dims = dims, .mapping = std::move(axes)})});
  });
}

}  // namespace alate::models
