// Question answering in the format of each family that has it.
#pragma once

#include "server/exchange/route.h"

namespace alate::server {

Route native_answer_route();

/// As Hugging Face's clients ask for question answering, for the routes that do what a model is for.
void answer_as_hugging_face(Call& call);

}  // namespace alate::server
