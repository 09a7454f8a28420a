// Any bytes are a file of torch.save whose tensors lie inside it, or refused.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "alate/error.h"
#include "formats/pytorch/checkpoint.h"
#include "formats/pytorch/pickle.h"

using namespace alate;
using namespace alate::formats;

namespace {

void refuse_others(const Error& error) {
  if (error.code() == ErrorCode::invalid_argument || error.code() == ErrorCode::internal) std::abort();
}

void try_checkpoint(std::span<const std::byte> file) {
  Checkpoint checkpoint;
  try {
    checkpoint = parse_checkpoint(file, "input");
  } catch (const Error& error) {
    return refuse_others(error);
  }
  for (const CheckpointTensor& entry : checkpoint.tensors) {
    const Tensor tensor = checkpoint_tensor(file, nullptr, entry);
    if (tensor.shape() != entry.shape || tensor.byte_count() > file.size()) std::abort();
  }
}

void try_pickle(std::span<const std::byte> file) {
  try {
    const Pickle pickle = parse_pickle(file, {}, "input", {.max_values = 10'000, .max_operations = 100'000});
    if (pickle.byte_count > file.size() || pickle.root >= pickle.values.size()) std::abort();
    for (const PickleValue& value : pickle.values) {
      for (const std::uint32_t item : value.items) {
        if (item >= pickle.values.size()) std::abort();
      }
    }
  } catch (const Error& error) {
    refuse_others(error);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> file = std::as_bytes(std::span(data, size));
  try_checkpoint(file);
  try_pickle(file);
  return 0;
}
