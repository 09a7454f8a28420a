// The most likely continuation of rows of tokens.
#pragma once

#include <cstddef>

#include "alate/model.h"
#include "backends/backend.h"

namespace alate::runtime {

/// For each row of `inputs`, as Model::forward takes them, the `count` tokens that follow its visible ones: each is the
/// first of those with the largest logit. i64 [batch, count]; zeros for a row without visible tokens. Positions count
/// visible tokens. Throws as Model::forward, and unsupported for a model that gives no next token, invalid_argument for
/// rows that get longer than its positions.
Tensor greedy_ids(const Model::State& model, const NamedTensors& inputs, std::size_t count,
                  const backends::RunOptions& options);

}  // namespace alate::runtime
