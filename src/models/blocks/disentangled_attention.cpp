#include "models/blocks/disentangled_attention.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/builder_functions.h"
#include "graph/operands.h"
#include "models/blocks/places.h"

namespace alate::models {
namespace {

using graph::Value;

std::string_view trimmed(std::string_view text) {
  const auto is_space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

float log_bucket(float distance, float half, float farthest) {
  const float far = std::log(distance / half) / std::log((farthest - 1) / half);
  return std::ceil(far * (half - 1)) + half;
}

// Rows of the table by query - key, from -reach to reach. Farther distances have the rows of those.
struct DistanceRows {
  std::int64_t reach;
  Value rows;
};

DistanceRows distance_rows(EncoderScope& scope, const DisentangledConfig& config) {
  const std::int64_t reach = std::max(config.places, config.farthest) + 1;
  std::vector<std::int32_t> rows;
  for (std::int64_t distance = -reach; distance <= reach; ++distance)
    rows.push_back(static_cast<std::int32_t>(row_of_distance(config, distance)));
  return {reach, scope.b.constant(Tensor::from<std::int32_t>({static_cast<std::int64_t>(rows.size())}, rows))};
}

// The rows of distances, which may be any integers.
Value rows_at(graph::Builder& b, const DistanceRows& table, Value distances) {
  const Value index = b.add({distances, graph::scalar_like(b, static_cast<double>(table.reach), distances)});
  return graph::take_rows(b, table.rows, index);  // which clamps
}

}  // namespace

std::vector<std::string> read_position_scores(const formats::Json& config) {
  const formats::Json* stated = config.find("pos_att_type");
  std::vector<std::string> parts;
  if (stated == nullptr || stated->is_null()) return parts;
  if (stated->is_array()) {
    for (const formats::Json& part : stated->as_array("pos_att_type")) parts.push_back(part.as_string("pos_att_type"));
    return parts;
  }
  std::string_view rest = stated->as_string("pos_att_type");
  for (bool ends = false; !ends;) {
    const std::size_t bar = rest.find('|');
    ends = bar == std::string_view::npos;
    std::string& part = parts.emplace_back(trimmed(rest.substr(0, bar)));
    for (char& c : part) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (!ends) rest.remove_prefix(bar + 1);
  }
  return parts;
}

std::int64_t row_of_distance(const DisentangledConfig& config, std::int64_t distance) {
  std::int64_t place = distance;
  const std::int64_t half = config.buckets / 2, apart = std::abs(distance);
  if (config.buckets > 0 && apart > half) {
    const float bucket =
        log_bucket(static_cast<float>(apart), static_cast<float>(half), static_cast<float>(config.farthest));
    const auto last = static_cast<float>(config.span);
    place = static_cast<std::int64_t>(std::min(bucket, last)) * (distance < 0 ? -1 : 1);
  }
  return std::clamp<std::int64_t>(place + config.span, 0, 2 * config.span - 1);
}

DisentangledAttention::DisentangledAttention(EncoderScope& scope, const DisentangledConfig& config)
    : scope_(scope), config_(config) {
  if (!config.uses_distances()) return;
  graph::Builder& b = scope.b;
  b.set_source("distances");
  const DistanceRows table = distance_rows(scope, config);
  if (scope.in.by_place) {
    rows_of_pairs_ = rows_at(b, table, b.neg({distances_of_places(scope)}));
    return;
  }
  const Value distance = distances_in_order(scope);
  if (config.scores_queries) rows_of_keys_ = rows_at(b, table, b.neg({distance}));
  if (config.scores_keys) rows_of_queries_ = rows_at(b, table, distance);
}

Value DisentangledAttention::attend(const DisentangledOperands& operands) const {
  const graph::Attention attributes{.scale = config_.scale,
                                    .rounds_operands = scope_.weights.settings().rounds_activations(),
                                    .longest = scope_.in.longest};
  const Value mixed =
      scope_.in.by_place ? attend_by_place(operands, attributes) : attend_in_order(operands, attributes);
  return scope_.b.reshape({mixed}, {.dims = {scope_.in.tokens, config_.hidden}});
}

Value DisentangledAttention::attend_in_order(const DisentangledOperands& operands,
                                             const graph::Attention& attributes) const {
  const EncoderInputs& in = scope_.in;
  graph::RaggedAttentionOperands<> inputs{.query = operands.query,
                                          .key = operands.key,
                                          .value = operands.value,
                                          .starts = in.starts,
                                          .lengths = in.lengths,
                                          .key_lengths = in.key_lengths};
  if (rows_of_keys_)
    inputs.query_distances = products(operands.query, scaled_vectors(*operands.position_keys, rows_of_keys_));
  if (rows_of_queries_)
    inputs.key_distances = products(operands.key, scaled_vectors(*operands.position_queries, rows_of_queries_));
  return scope_.b.ragged_attention(inputs.list(), inputs.flagged(attributes));
}

// In the reference a masked query sees all places of its row alike, masked ones too, whose tokens are all equal: one of
// them stands for all.
Value DisentangledAttention::attend_by_place(const DisentangledOperands& operands,
                                             const graph::Attention& attributes) const {
  graph::Builder& b = scope_.b;
  const EncoderInputs& in = scope_.in;
  const PairsOfPlaces pairs = pairs_of_places(scope_);
  const graph::Dims dims = {in.sequences, config_.heads, in.longest, in.longest};
  std::optional<Value> scores;
  const auto add_scores = [&](Value heads, Value table, std::int64_t axis) {
    const Value by_row = products(heads, scaled_vectors(table, {}));
    const Value token = b.broadcast_in_dim({padded_tokens(scope_)}, {.dims = pairs.dims, .mapping = {0, axis}});
    const Value index = graph::stack(b, {token, *rows_of_pairs_}, 3);
    const Value more = b.gather({by_row, index}, {.offset_dims = {1},
                                                  .collapsed_slice_dims = {1, 2},
                                                  .start_index_map = {1, 2},
                                                  .index_vector_dim = 3,
                                                  .slice_sizes = {config_.heads, 1, 1}});
    scores = scores ? b.add({*scores, more}) : more;
  };
  if (rows_of_pairs_ && config_.scores_queries) add_scores(operands.query, *operands.position_keys, 1);
  if (rows_of_pairs_ && config_.scores_keys) add_scores(operands.key, *operands.position_queries, 2);

  const auto of_pairs = [&](Value value) { return b.broadcast_in_dim({value}, {.dims = dims, .mapping = {0, 2, 3}}); };
  const Value counted = b.max({in.by_place->masked, graph::scalar_like(b, 1, in.by_place->masked)});
  const Value weight = b.log({b.convert({counted}, {.dtype = DType::f32})});
  const Value of_masked = b.broadcast_in_dim({weight}, {.dims = dims, .mapping = {0}});
  const Value zero = graph::scalar_like(b, 0, of_masked),
              nothing = graph::scalar_like(b, -std::numeric_limits<double>::infinity(), of_masked);
  const Value is_masked_key = of_pairs(pairs.is_masked_key);
  const Value bias = b.select({of_pairs(pairs.is_masked_query), b.select({is_masked_key, of_masked, zero}),
                               b.select({is_masked_key, nothing, scores.value_or(zero)})});
  const Value query =
      b.mul({operands.query,
             b.broadcast_in_dim({visible_tokens(scope_)}, {.dims = b.shape(operands.query).dims, .mapping = {0}})});
  const graph::RaggedAttentionOperands<> inputs{.query = query,
                                                .key = operands.key,
                                                .value = operands.value,
                                                .starts = in.starts,
                                                .lengths = in.lengths,
                                                .bias = bias};
  return b.ragged_attention(inputs.list(), inputs.flagged(attributes));
}

// [heads, tokens, …] from [tokens, heads, size] and vectors […, heads, size].
Value DisentangledAttention::products(Value heads, Value vectors) const {
  const auto rank = static_cast<std::int64_t>(scope_.b.shape(vectors).rank());
  return scope_.b.dot_general(
      {heads, vectors},
      {.lhs_batch = {1}, .rhs_batch = {rank - 2}, .lhs_contracting = {2}, .rhs_contracting = {rank - 1}});
}

// […, heads, size]: the table's rows, or those taken.
Value DisentangledAttention::scaled_vectors(Value table, std::optional<Value> rows) const {
  graph::Builder& b = scope_.b;
  const Value taken = rows ? graph::take_rows(b, table, *rows) : table;
  const Value scaled = b.mul({taken, graph::scalar_like(b, config_.scale, taken)});
  graph::Dims dims = b.shape(scaled).dims;
  dims.back() = config_.heads;
  dims.emplace_back(config_.head_size());
  return b.reshape({scaled}, {.dims = std::move(dims)});
}

}  // namespace alate::models
