// The length of a text, the text, and SentencePiece's compiled normalization rules: they are refused, or make another
// text whose characters all come from places of the first one.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "alate/error.h"
#include "base/threads/cancellation.h"
#include "tests/fuzz/check_tokenizer.h"
#include "tokenizers/normalizers/normalizer.h"
#include "tokenizers/unicode/utf8.h"
#include "tokenizers/work_budget.h"

using namespace alate;
using namespace alate::tokenizers;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::size_t text_size = std::min<std::size_t>(data[0], size - 1);
  const std::string_view given(reinterpret_cast<const char*>(data) + 1, text_size);
  const std::string_view rules(reinterpret_cast<const char*>(data) + 1 + text_size, size - 1 - text_size);
  const std::optional<std::string> repaired = repair_utf8(given);
  const std::string_view text = repaired ? std::string_view(*repaired) : given;
  WorkBudget budget(base::Cancellation::never(), text.size());
  const Span whole{0, static_cast<std::uint32_t>(text.size())};
  try {
    const NormalizerPtr normalizer = precompiled(std::string(rules), "fuzz");
    AlignedText tracked(text, whole, true, budget);
    normalizer->apply(tracked);
    tests::require(!repair_utf8(tracked.text()).has_value());
    for (std::size_t i = 0; i < tracked.size(); ++i) {
      const Span source = tracked.source(i);
      tests::require(source.begin <= source.end && source.end <= text.size());
    }
    AlignedText untracked(text, whole, false, budget);
    normalizer->apply(untracked);
    tests::require(untracked.text() == tracked.text() && untracked.at_start() == tracked.at_start());
  } catch (const Error& error) {
    tests::require(error.code() != ErrorCode::internal);
  }
  return 0;
}
