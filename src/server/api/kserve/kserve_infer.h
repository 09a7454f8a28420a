// POST /v2/models/M/infer: texts to vectors, or token ids through the encoder.
#pragma once

#include "server/route.h"

namespace alate::server {

/// Handler of the route; reads the body itself.
void kserve_infer(Call& call);

}  // namespace alate::server
