// Recognition and redaction in the format of each family that has them.
#pragma once

#include "server/exchange/route.h"

namespace alate::server {

Route native_recognize_route();
Route native_redact_route();

/// As Hugging Face's clients ask for token classification, for the routes that do what a model is for.
void recognize_as_hugging_face(Call& call);

}  // namespace alate::server
