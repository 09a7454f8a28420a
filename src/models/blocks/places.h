// Places of tokens in their sequences, and their distances: of consecutive ones, and in graphs that know their places
// (EncoderInputs::by_place).
#pragma once

#include <cstdint>

#include "graph/builder_functions.h"
#include "models/encoder.h"

namespace alate::models {

/// The token at each place of each sequence, i32 [sequences, longest]; past a sequence's end one of its own.
graph::Value padded_tokens(EncoderScope& scope);
/// The sequence of each token and its place there.
graph::PackedRows packed_tokens(EncoderScope& scope);

/// key - query for each pair of a sequence's tokens: i32 [sequences, longest, longest], of places where the graph knows
/// them. Pairs past a sequence's end have any values.
graph::Value distances_of_places(EncoderScope& scope);

/// i32 [2, longest], from -longest to longest - 1: the distances of scores by distance, see graph::Attention.
graph::Value distances_in_order(EncoderScope& scope);

/// Bool [sequences, longest, longest]: whether the query, or the key, is masked, and is only there to stand for the
/// first place.
struct PairsOfPlaces {
  graph::Dims dims;
  graph::Value is_masked_query, is_masked_key;
};
PairsOfPlaces pairs_of_places(EncoderScope& scope);

/// f32 [tokens]: 0 for tokens that are masked as keys, 1 for others.
graph::Value visible_tokens(EncoderScope& scope);

/// f32 [sequences, 1, longest, longest]: -infinity for keys that are more than `left` places before the query or more
/// than `right` after it, else 0. -1: no limit.
graph::Value window_bias(EncoderScope& scope, std::int64_t left, std::int64_t right);

}  // namespace alate::models
