// Classification in the format of each family that has it.
#pragma once

#include "server/route.h"

namespace alate::server {

Route native_classify_route();
Route tei_predict_route();

/// POST /predict of text-embeddings-inference, for the routes that do what a model is for.
void predict_as_tei(Call& call);

}  // namespace alate::server
