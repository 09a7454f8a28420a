// Graphs on ONNX Runtime.
#pragma once

#include "backends/backend.h"

namespace alate::onnxruntime {

/// One object for the process; the library is opened at first need. Thread-safe.
backends::Backend& onnx_backend();

}  // namespace alate::onnxruntime
