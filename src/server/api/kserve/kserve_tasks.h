// Tasks over texts for KServe clients: texts as BYTES, answers as FP32 and BYTES.
#pragma once

#include <string>

#include "server/api/kserve/kserve_tensors.h"
#include "server/exchange/route.h"

namespace alate::server {

/// Answers a request whose inputs are texts by the task that its parameter "task" names, else by that of the model;
/// `model` is the name in the path.
void kserve_task(Call& call, const std::string& model, InferRequest request);

}  // namespace alate::server
