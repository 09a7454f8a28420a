// Translation of ONNX Runtime's errors.
#pragma once

#include <string>
#include <string_view>

#include "alate/error.h"

namespace alate::onnxruntime {

/// The error code for a status of the library: judged by its number and its text, since one number covers many causes.
ErrorCode code_of(int status, std::string_view text);

/// The library's message on one line, without the place in its source and the condition that was not met.
std::string plain_text(std::string_view text);

}  // namespace alate::onnxruntime
