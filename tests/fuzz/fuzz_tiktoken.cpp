// The length of a text, the text, and a file of ranks: loading either throws alate::Error or gives a tokenizer whose
// encodings are whole.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/check_tokenizer.h"
#include "tokenizers/sources/tiktoken.h"
#include "tokenizers/sources/vocab_merges.h"

using namespace alate;
using namespace alate::tokenizers;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::size_t text_size = std::min<std::size_t>(data[0], size - 1);
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, text_size);
  const std::string_view file(reinterpret_cast<const char*>(data) + 1 + text_size, size - 1 - text_size);
  try {
    (void)is_tiktoken(file);
    tests::check_tokenizer(Tokenizer(read_tiktoken(file, "fuzz", TokenizerConfig::none("fuzz"), "fuzz")), text);
  } catch (const Error& error) {
    tests::require(error.code() != ErrorCode::internal);
  }
  try {
    parse_merges(file, "fuzz");
  } catch (const Error& error) {
    tests::require(error.code() == ErrorCode::corrupt);
  }
  return 0;
}
