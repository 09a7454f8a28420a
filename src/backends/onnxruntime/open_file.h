// An ONNX file as a session.
#pragma once

#include "backends/onnxruntime/executable.h"
#include "backends/onnxruntime/places.h"

namespace alate::onnxruntime {

/// The file as it is, with the weights that it keeps beside itself. With a cache folder, and on the processor, what the
/// library makes of it is kept there, so that the next time is faster (optimized_models.h).
/// Throws not_found, corrupt for what is no ONNX model, contradicts itself or has weights outside its folder
/// (exchange/onnx_file.h), unsupported with the operator or opset
/// that the library lacks, resource_exhausted.
std::unique_ptr<OnnxExecutable> open_file(const backends::ModelFile& file, std::shared_ptr<const Library> library,
                                          const Place& place, const backends::CompileOptions& options);

}  // namespace alate::onnxruntime
