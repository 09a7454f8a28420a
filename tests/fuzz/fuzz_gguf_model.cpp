// Any bytes are a model in GGUF or refused. Of what is read, the configuration is one that an architecture reads or
// refuses, every tensor has a name of transformers', and its bytes lie inside the file.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>

#include "alate/error.h"
#include "base/files/atomic_file.h"
#include "formats/gguf/gguf_config.h"
#include "formats/gguf/gguf_weights.h"
#include "models/encoder.h"
#include "tests/fuzz/check_tokenizer.h"

using namespace alate;
using namespace alate::formats;

namespace {

constexpr auto check = tests::require;

const std::filesystem::path& file() {
  static const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("fuzz_gguf_model_" + std::to_string(std::random_device()()) + ".gguf");
  return path;
}

// Each by itself: the one is refused for other reasons than the other.
template <typename Read>
void refused_or(const Read& read) {
  try {
    read();
  } catch (const Error& error) {
    check(error.code() != ErrorCode::internal);
  }
}

void read_config() {
  const Json config = gguf_config(*GgufModel::open(file(), base::MappedFile::Mode::read));
  const models::EncoderLimits limits = models::find_architecture(config).limits(config);
  check(limits.vocabulary > 0 && limits.positions > 0 && limits.hidden_size > 0);
}

void read_weights() {
  const auto weights = GgufWeights::open(file(), base::MappedFile::Mode::read);
  const std::span<const std::byte> bytes = weights->files().front().bytes;
  for (const std::string_view name : weights->names()) {
    const WeightInfo info = *weights->info(name);
    check(name == "lm_head.weight" || name == "lm_head.bias" || name.starts_with("model."));
    check(info.change.paired_heads >= 0);
    check(weights->tensor(name).byte_count() == info.bytes && info.bytes <= bytes.size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  base::write_file_atomically(file(), std::as_bytes(std::span(data, size)));
  refused_or(read_config);
  refused_or(read_weights);
  std::filesystem::remove(file());
  return 0;
}
