// A regular expression and a text, split at the first zero byte: compiling either throws alate::Error or gives a
// pattern whose matches lie in the text, in order. On the text alone, every hand-written scanner finds what its regular
// expression finds.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "base/threads/cancellation.h"
#include "tests/fuzz/check_tokenizer.h"
#include "tokenizers/regex/pattern.h"
#include "tokenizers/regex/regex_matcher.h"
#include "tokenizers/regex/scanners.h"
#include "tokenizers/unicode/utf8.h"
#include "tokenizers/work_budget.h"

using namespace alate;
using namespace alate::tokenizers;

namespace {

constexpr std::size_t kMaxTextBytes = 400;  // backtracking in a longer one may take until its limit

void check_matches(std::string_view text, const std::vector<Span>& matches) {
  const auto is_border = [&](std::size_t at) { return at == text.size() || starts_code_point(text[at]); };
  std::size_t last = 0;
  for (const Span match : matches) {
    tests::require(last <= match.begin && match.begin <= match.end && match.end <= text.size());
    tests::require(is_border(match.begin) && is_border(match.end));
    last = match.end;
  }
}

struct ScannedPattern {
  std::unique_ptr<const Pattern::Matcher> scanner;
  std::unique_ptr<const Pattern::Matcher> regex;
};

void check_scanners(std::string_view text) {
  static const std::vector<ScannedPattern> patterns = [] {
    std::vector<ScannedPattern> all;
    for (const std::string_view pattern : scanned_patterns())
      all.push_back({scanner_for(pattern), compile_regex(pattern, "fuzz")});
    return all;
  }();
  for (const ScannedPattern& pattern : patterns) {
    std::vector<Span> scanned;
    std::vector<Span> matched;
    WorkBudget budget(base::Cancellation::never(), text.size());
    pattern.scanner->find_all(text, scanned, budget);
    pattern.regex->find_all(text, matched, budget);
    tests::require(scanned == matched);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t split = std::min(input.find('\0'), input.size());
  const std::string_view given = input.substr(std::min(split + 1, input.size())).substr(0, kMaxTextBytes);
  const std::optional<std::string> repaired = repair_utf8(given);
  const std::string_view text = repaired ? std::string_view(*repaired) : given;
  check_scanners(text);
  for (const bool is_regex : {false, true}) {
    try {
      std::vector<Span> matches;
      WorkBudget budget(base::Cancellation::never(), text.size());
      Pattern({std::string(input.substr(0, split)), is_regex}, "fuzz").find_all(text, matches, budget);
      check_matches(text, matches);
    } catch (const Error& error) {
      tests::require(error.code() != ErrorCode::internal);
    }
  }
  return 0;
}
