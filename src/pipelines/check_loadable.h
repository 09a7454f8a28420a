// Whether a model can be loaded, found without loading it.
#pragma once

#include <filesystem>

#include "alate/selection.h"
#include "runtime/loading/load_request.h"

namespace alate::pipelines {

/// Goes as far as the load of the pipeline of the model's main task (tasks.h) does before anything is compiled, by the
/// same code and with the same errors: the modules, the architecture, the tokenizer, every weight in its shape, a
/// backend, and the memory that is free there. An ONNX file is opened on its runtime. Returns the backend that would
/// run the model. Weights are mapped, so the cost is that of reading headers; for dtype auto it checks the float32
/// model that the choice begins with.
///
/// Without `has_tokenizer` the folder's tokenizer is not looked at: it has not been downloaded.
Selection check_loadable(const std::filesystem::path& folder, runtime::LoadRequest request, bool has_tokenizer = true);

}  // namespace alate::pipelines
