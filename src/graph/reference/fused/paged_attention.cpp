#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/reference/call.h"
#include "graph/reference/extremes.h"
#include "graph/reference/index.h"
#include "graph/reference/values.h"

namespace alate::graph {
namespace {

// The visible keys of a query, [first, last).
struct Seen {
  std::int64_t first, last;
};

Seen visible_keys(const Attention& attention, std::int64_t place, std::int64_t keys) {
  Seen seen{0, keys};
  if (attention.causal) seen.last = std::min(seen.last, place + 1);
  if (attention.window_left >= 0 && attention.window_left <= place) seen.first = place - attention.window_left;
  if (attention.window_right >= 0 && attention.window_right < keys - place)
    seen.last = std::min(seen.last, place + attention.window_right + 1);
  return seen;
}

}  // namespace

Tensor reference_paged_attention(const ReferenceCall& call) {
  const Attention& attention = call.as<Attention>();
  const std::vector<double> query = load_floats(call.operand(0)), keys = load_floats(call.operand(1)),
                            values = load_floats(call.operand(2));
  const std::vector<std::int64_t> table = load_indices(call.operand(3)), lengths = load_indices(call.operand(4)),
                                  query_lengths = load_indices(call.operand(5));
  const std::vector<double> sinks = attention.has_sinks ? load_floats(call.operand(6)) : std::vector<double>();
  const std::vector<std::int64_t> query_extents = extents_of(call.operand(0).shape()),
                                  key_extents = extents_of(call.operand(1).shape()),
                                  value_extents = extents_of(call.operand(2).shape()),
                                  extents = extents_of(call.shape());
  const std::int64_t pages = key_extents[0], page_size = key_extents[1], row = call.operand(3).extent(1);
  const std::int64_t group = extents[2] / key_extents[2];
  std::vector<double> results(static_cast<std::size_t>(product(extents)), 0);

  for_each_index(std::span(extents).first(3), [&](const Place& at) {
    const std::int64_t sequence = at[0], head = at[2], kv_head = head / group;
    const std::int64_t length = lengths[static_cast<std::size_t>(sequence)],
                       queries = query_lengths[static_cast<std::size_t>(sequence)];
    if (at[1] >= queries) return;
    const Seen seen = visible_keys(attention, length - queries + at[1], std::min(length, row * page_size));
    const auto page = [&](std::int64_t key) {
      const std::int64_t entry = table[static_cast<std::size_t>(sequence * row + key / page_size)];
      return std::clamp<std::int64_t>(entry, 0, pages - 1);
    };
    const std::size_t first_query = offset_of(Place{sequence, at[1], head, 0}, query_extents);
    std::vector<double> weights;
    double largest =
        attention.has_sinks ? sinks[static_cast<std::size_t>(head)] : -std::numeric_limits<double>::infinity();
    for (std::int64_t key = seen.first; key < seen.last; ++key) {
      double score = 0;
      for (std::int64_t i = 0; i < key_extents[3]; ++i) {
        score += query[first_query + static_cast<std::size_t>(i)] *
                 keys[offset_of(Place{page(key), key % page_size, kv_head, i}, key_extents)];
      }
      score *= attention.scale;
      if (attention.soft_cap > 0) score = attention.soft_cap * std::tanh(score / attention.soft_cap);
      weights.push_back(score);
      largest = larger(largest, score);
    }
    if (largest == -std::numeric_limits<double>::infinity()) return;  // no visible key: zeros
    double sum = attention.has_sinks ? std::exp(sinks[static_cast<std::size_t>(head)] - largest) : 0;
    for (double& weight : weights) sum += weight = std::exp(weight - largest);
    const std::size_t first_result = offset_of(Place{sequence, at[1], head, 0}, extents);
    for (std::size_t seen_key = 0; seen_key < weights.size(); ++seen_key) {
      const std::int64_t key = seen.first + static_cast<std::int64_t>(seen_key);
      for (std::int64_t i = 0; i < extents[3]; ++i) {
        results[first_result + static_cast<std::size_t>(i)] +=
            weights[seen_key] / sum * values[offset_of(Place{page(key), key % page_size, kv_head, i}, value_extents)];
      }
    }
  });
  return store_floats(call.shape(), results);
}

}  // namespace alate::graph
