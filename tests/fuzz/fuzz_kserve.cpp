// Any bytes are a request of KServe's protocol, or refused with a sentence for the client; what is read fits its own
// shapes and the limits. The first two bytes say how many of the others are JSON (low byte first; 65535: no header).
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "server/api/kserve/kserve_tensors.h"
#include "server/exchange/family.h"

namespace {

using alate::server::InferTensor;

constexpr alate::server::InferLimits kLimits = {.max_texts = 16, .max_numbers = 256};

void require(bool holds) {
  if (!holds) std::abort();
}

void check(const InferTensor& tensor) {
  std::size_t count = 1;
  for (const std::int64_t extent : tensor.shape) {
    require(extent >= 0);
    count *= static_cast<std::size_t>(extent);
  }
  if (tensor.holds_texts()) {
    require(tensor.texts.size() == count && count <= kLimits.max_texts);
    return;
  }
  require(tensor.texts.empty() && count <= kLimits.max_numbers);
  require(static_cast<std::size_t>(tensor.numbers.element_count()) == count);
  require(tensor.numbers.dtype() == alate::DType::i64 || tensor.numbers.dtype() == alate::DType::i32);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::size_t json_bytes = data[0] | (std::size_t{data[1]} << 8);
  const std::string length = std::to_string(json_bytes);
  const std::string_view body(reinterpret_cast<const char*>(data + 2), size - 2);
  try {
    const auto request = alate::server::parse_infer_request(body, json_bytes == 0xFFFF ? nullptr : &length, kLimits);
    require(request.inputs.size() <= 16 && request.outputs.size() <= 16);
    for (const InferTensor& tensor : request.inputs) check(tensor);
  } catch (const alate::server::RequestError& error) {
    require(!error.problem().message.empty());
  }
  return 0;
}
