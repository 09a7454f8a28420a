// The family of a conversion, the length of a text, the text, and a model of SentencePiece: loading either throws
// alate::Error or gives a tokenizer whose encodings are whole.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>

#include "tests/fuzz/check_tokenizer.h"
#include "tokenizers/sources/sentencepiece.h"

using namespace alate;
using namespace alate::tokenizers;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr decltype(&convert_plain) kConversions[] = {
      convert_plain, convert_llama,      convert_gemma,     convert_t5,      convert_albert,  convert_xlm_roberta,
      convert_mbart, convert_deberta_v2, convert_camembert, convert_pegasus, convert_mbart50, convert_nllb};
  if (size < 2) return 0;
  const std::size_t text_size = std::min<std::size_t>(data[1], size - 2);
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, text_size);
  const std::span<const std::byte> file = std::as_bytes(std::span(data, size)).subspan(2 + text_size);
  try {
    const SentencePieceModel model = parse_sentencepiece_model(file, "fuzz");
    const auto convert = kConversions[data[0] % std::size(kConversions)];
    tests::check_tokenizer(Tokenizer(convert(model, TokenizerConfig::none("fuzz"), "fuzz")), text);
  } catch (const Error& error) {
    tests::require(error.code() != ErrorCode::internal);
  }
  return 0;
}
