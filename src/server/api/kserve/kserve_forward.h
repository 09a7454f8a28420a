// Token ids through a model's encoder, for KServe clients.
#pragma once

#include <string>

#include "server/api/kserve/kserve_tensors.h"
#include "server/exchange/route.h"

namespace alate::server {

/// Answers with the result of Model::forward for the request's tensors, one of which is input_ids. `model` is the name
/// in the path.
void kserve_forward(Call& call, std::string model, InferRequest request);

}  // namespace alate::server
