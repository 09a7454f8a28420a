#include "backends/backend.h"

#include "alate/error.h"

namespace alate::backends {

std::unique_ptr<Executable> Backend::open(const ModelFile& file, const CompileOptions& /*options*/) {
  throw make_error(ErrorCode::unsupported, "backend ", name(),
                   " does not run model files as they are: ", file.path.string(), " needs onnx");
}

}  // namespace alate::backends
