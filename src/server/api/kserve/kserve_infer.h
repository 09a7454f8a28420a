// POST /v2/models/M/infer: texts through the model's task, or token ids through the encoder.
#pragma once

#include "server/exchange/route.h"

namespace alate::server {

/// The route's handler; reads the body itself.
void kserve_infer(Call& call);

}  // namespace alate::server
