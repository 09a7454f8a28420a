#include "models/blocks/relative_bias.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "models/blocks/places.h"

namespace alate::models {
namespace {

using graph::Value;

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

}  // namespace

Value relative_bias(EncoderScope& scope, const std::string& name, std::int64_t rows, std::int64_t buckets,
                    std::int64_t farthest, std::int64_t heads, std::int64_t places) {
  graph::Builder& b = scope.b;
  b.set_source(name);
  places = std::max(places, farthest + 2);  // a row with masked places may be longer than a sequence
  std::vector<std::int32_t> of_distance;    // from key - query = 1 - places on
  for (std::int64_t distance = 1 - places; distance < places; ++distance)
    of_distance.push_back(bucket_of(distance, buckets, farthest));
  const Value table = scope.weights.get(b, name + ".weight", {rows, heads});
  const Value by_distance = graph::take_rows(
      b, table, b.constant(Tensor::from<std::int32_t>({static_cast<std::int64_t>(of_distance.size())}, of_distance)));
  const Dim longest = scope.in.longest;
  const auto index_of = [&](Value distance) {
    return b.add({distance, graph::scalar_like(b, static_cast<double>(places - 1), distance)});
  };
  if (scope.in.by_place) {
    const Value index = index_of(distances_of_places(scope));
    return b.transpose({graph::take_rows(b, by_distance, index)}, {.permutation = {0, 3, 1, 2}});
  }
  const auto counted = [&](std::int64_t axis) {
    return b.iota({}, {.dtype = DType::i32, .dims = {longest, longest}, .axis = axis});
  };
  const Value index = index_of(b.sub({counted(1), counted(0)}));
  const Value biases = b.transpose({graph::take_rows(b, by_distance, index)}, {.permutation = {2, 0, 1}});
  return b.reshape({biases}, {.dims = {1, heads, longest, longest}});
}

}  // namespace alate::models
