// The answer of POST /api/similarity, which is also that of `alate similarity --output json`.
#pragma once

#include <string>

#include "alate/tensor.h"
#include "pipelines/calls/answer_json.h"

namespace alate::pipelines {

/// {"model": …, "similarities": [[…], …], …} of f32 [rows, columns].
std::string similarity_json(const Tensor& similarities, const AnswerFacts& facts);

}  // namespace alate::pipelines
