// Any bytes are a safetensors file whose tensors lie inside it, or refused; what is read is written and read again.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "alate/error.h"
#include "formats/npy/bool_bytes.h"
#include "formats/safetensors/safetensors_header.h"
#include "formats/safetensors/safetensors_writer.h"

using namespace alate;
using namespace alate::formats;

namespace {

std::vector<NamedTensor> read(std::span<const std::byte> file, const SafetensorsHeader& header) {
  std::vector<NamedTensor> tensors;
  for (const TensorEntry& entry : header.entries) {
    const std::span<const std::byte> bytes = file.subspan(entry.begin, entry.end - entry.begin);
    tensors.push_back({entry.name, with_proper_bools(Tensor::borrow(entry.shape, bytes.data(), nullptr))});
    if (tensors.back().tensor.byte_count() != bytes.size()) std::abort();
  }
  return tensors;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> file = std::as_bytes(std::span(data, size));
  SafetensorsHeader header;
  try {
    header = parse_safetensors_header(file, "input");
  } catch (const Error& error) {
    if (error.code() == ErrorCode::invalid_argument || error.code() == ErrorCode::internal) std::abort();
    return 0;
  }
  const std::vector<std::byte> written = safetensors_bytes(read(file, header), header.metadata);
  const SafetensorsHeader again = parse_safetensors_header(written, "written");
  if (again.entries.size() != header.entries.size() || again.metadata != header.metadata) std::abort();
  if (safetensors_bytes(read(written, again), again.metadata) != written) std::abort();
  return 0;
}
