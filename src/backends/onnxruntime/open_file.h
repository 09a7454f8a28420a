// Opens an ONNX file as a session.
#pragma once

#include "backends/onnxruntime/executable.h"
#include "backends/onnxruntime/places.h"

namespace alate::onnxruntime {

/// Opens the file as it is, with the external weights beside it. With a cache folder, and on the processor, the
/// optimized model is kept there, so that the next load is faster (optimized_models.h). Throws not_found, corrupt for a
/// file that is no ONNX model, contradicts itself or has weights outside its folder (exchange/onnx_file.h),
/// unsupported, naming the operator or opset, for one that the library lacks, resource_exhausted.
std::unique_ptr<OnnxExecutable> open_file(const backends::ModelFile& file, std::shared_ptr<const Library> library,
                                          const Place& place, const backends::CompileOptions& options);

}  // namespace alate::onnxruntime
