// Any bytes are an ONNX model whose tensors are in files inside the folder, or refused.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "alate/error.h"
#include "base/files/contained_files.h"
#include "exchange/onnx_file.h"

using namespace alate;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<exchange::ExternalTensor> tensors;
  try {
    tensors = exchange::external_tensors(std::as_bytes(std::span(data, size)));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::corrupt && error.code() != ErrorCode::resource_exhausted &&
        error.code() != ErrorCode::unsupported)
      std::abort();
    return 0;
  }
  for (const exchange::ExternalTensor& tensor : tensors) {
    if (!base::is_plain_relative_path(tensor.location)) std::abort();
    const std::uint64_t bytes = tensor.length.value_or(tensor.bytes.value_or(0));
    if (tensor.offset + bytes < tensor.offset) std::abort();
  }
  return 0;
}
