// Classification in the format of each family that has it.
#pragma once

#include "formats/json.h"
#include "server/exchange/route.h"
#include "server/models/model_purpose.h"

namespace alate::server {

Route native_classify_route();
Route tei_predict_route();

/// What a body of POST /predict needs a model for, by its parameters.
ModelPurpose purpose_of_prediction(const formats::Json& body);

/// POST /predict of text-embeddings-inference, for the routes that do what a model is for.
void predict_as_tei(Call& call);

}  // namespace alate::server
