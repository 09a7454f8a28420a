// Token ids through a model's encoder, for KServe's clients.
#pragma once

#include <string>

#include "server/api/kserve/kserve_tensors.h"
#include "server/route.h"

namespace alate::server {

/// Answers with what Model::forward makes of the request's tensors, of which one is input_ids; `model` is the name in
/// the path.
void kserve_forward(Call& call, std::string model, InferRequest request);

}  // namespace alate::server
