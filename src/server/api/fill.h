// Filling of masks in the format of each family that has it.
#pragma once

#include "server/exchange/route.h"
#include "server/models/model_host.h"

namespace alate::server {

Route native_fill_route();

/// Whether the inputs of a request to the routes that do what a model is for are texts with masks, and the model fills
/// them.
bool has_masks(const HostedModel& model, const formats::Json& inputs);
/// As Hugging Face's clients ask for it, for these routes.
void fill_as_hugging_face(Call& call);

}  // namespace alate::server
