// Learned biases of attention by the distance of two places (Raffel et al. 2020, arXiv:1910.10683).
#pragma once

#include <cstdint>
#include <string>

#include "models/encoder.h"

namespace alate::models {

/// [1, heads, longest, longest], or [sequences, heads, longest, longest] by place, of the table `name` [rows, heads]:
/// half of `buckets` for keys after the query, half for those before; near distances have a bucket each, farther ones
/// share them up to `farthest`, logarithmically. `rows` is at least `buckets`, `places` the largest number of tokens of
/// a sequence.
graph::Value relative_bias(EncoderScope& scope, const std::string& name, std::int64_t rows, std::int64_t buckets,
                           std::int64_t farthest, std::int64_t heads, std::int64_t places);

}  // namespace alate::models
