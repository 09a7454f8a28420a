// What ONNX Runtime's failures mean.
#pragma once

#include <string>
#include <string_view>

#include "alate/error.h"

namespace alate::onnxruntime {

/// The code of an error that the library gave: its own number, and what it says, since it has one number for much.
ErrorCode code_of(int status, std::string_view text);

/// What the library says on one line, without the place in its source and the condition that was not met.
std::string plain_text(std::string_view text);

}  // namespace alate::onnxruntime
