// The backend that runs graphs on ONNX Runtime.
#pragma once

#include "backends/backend.h"

namespace alate::onnxruntime {

/// One object per process; the library is opened at first use. Thread-safe.
backends::Backend& onnx_backend();

}  // namespace alate::onnxruntime
