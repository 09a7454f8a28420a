// Scores of attention that depend on nothing but the distance of two places.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "graph/operands.h"
#include "models/encoder.h"

namespace alate::models {

/// What is added to the scores of attention.
struct AddedScores {
  graph::Value value;
  bool is_by_distance = false;  // [heads, 1, 2, longest] of keys; else a bias of pairs: see graph::Attention
};

/// Adds the scores, if there are any, to operands that have no such scores yet.
void add_scores(const std::optional<AddedScores>& scores, graph::RaggedAttentionOperands<>& operands);

/// The scores of `heads` heads, from a function of distances query - key: i32 of any dims, to scores f32 of these dims
/// and [heads] after them. Distances are any integers; those beyond a sequence's ends are not used. They are by
/// distance where tokens are at consecutive places, and a bias [sequences, heads, longest, longest] by place.
AddedScores scores_of_distances(EncoderScope& scope, std::int64_t heads,
                                const std::function<graph::Value(graph::Value distance)>& scores_of);

/// Learned scores (Raffel et al. 2020, arXiv:1910.10683) of the table `name` [rows, heads]: half of `buckets` for keys
/// after the query, half for those before; near distances have a bucket each, farther ones share them up to `farthest`,
/// logarithmically. `rows` is at least `buckets`, `places` the largest number of tokens of a sequence.
AddedScores learned_scores(EncoderScope& scope, const std::string& name, std::int64_t rows, std::int64_t buckets,
                           std::int64_t farthest, std::int64_t heads, std::int64_t places);

/// The slopes of ALiBi (Press et al. 2022, arXiv:2108.12409): of heads whose number is no power of 2, those of the next
/// lower power, then every second one of the next higher. Throws corrupt for numbers of heads that no model has.
std::vector<float> alibi_slopes(std::int64_t heads);

/// -slope · |distance|.
AddedScores alibi_scores(EncoderScope& scope, std::int64_t heads);

}  // namespace alate::models
