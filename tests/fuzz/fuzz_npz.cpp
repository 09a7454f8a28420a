// Any bytes are an .npz or .npy file, or refused; what is read is written and read again as the same bytes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "alate/error.h"
#include "formats/npy/npy.h"
#include "formats/npy/npz.h"

using namespace alate;
using namespace alate::formats;

namespace {

constexpr ZipLimits kLimits = {.max_entries = 64, .max_inflated_bytes = std::size_t{1} << 20};

void refuse_others(const Error& error) {
  if (error.code() == ErrorCode::invalid_argument || error.code() == ErrorCode::internal) std::abort();
}

void try_npy(std::span<const std::byte> file) {
  Tensor tensor;
  try {
    tensor = parse_npy(file, nullptr, "input");
  } catch (const Error& error) {
    return refuse_others(error);
  }
  const std::vector<std::byte> written = npy_bytes(tensor, "tensor");
  if (npy_bytes(parse_npy(written, nullptr, "written"), "tensor") != written) std::abort();
}

void try_npz(std::span<const std::byte> file) {
  std::vector<NamedTensor> tensors;
  try {
    tensors = parse_npz(file, "input", kLimits);
  } catch (const Error& error) {
    return refuse_others(error);
  }
  const std::vector<std::byte> written = npz_bytes(tensors);
  if (npz_bytes(parse_npz(written, "written")) != written) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> file = std::as_bytes(std::span(data, size));
  try_npy(file);
  try_npz(file);
  return 0;
}
