#include "tokenizers/regex/pattern.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "alate/error.h"
#include "tokenizers/regex/regex_matcher.h"
#include "tokenizers/regex/scanners.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers {
namespace {

class Literal final : public Pattern::Matcher {
 public:
  explicit Literal(std::string text) : text_(std::move(text)) {}

  void find_all(std::string_view text, std::vector<Span>& matches, WorkBudget& budget) const override {
    Progress progress(budget);
    for (std::size_t at = text.find(text_); at != std::string_view::npos; at = text.find(text_, at + text_.size())) {
      progress.reached(at);
      matches.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at + text_.size())});
    }
  }

 private:
  std::string text_;
};

// The empty text matches before each code point and at the end.
class Nothing final : public Pattern::Matcher {
 public:
  void find_all(std::string_view text, std::vector<Span>& matches, WorkBudget&) const override {
    if (text.empty()) return;
    for (std::uint32_t at = 0; at < text.size(); ++at) {
      if (starts_code_point(text[at])) matches.push_back({at, at});
    }
    const auto end = static_cast<std::uint32_t>(text.size());
    matches.push_back({end, end});
  }
};

std::unique_ptr<const Pattern::Matcher> compile(PatternText pattern, std::string_view where) {
  if (pattern.is_regex) {
    auto scanner = scanner_for(pattern.text);
    return scanner != nullptr ? std::move(scanner) : compile_regex(pattern.text, where);
  }
  if (pattern.text.empty()) return std::make_unique<Nothing>();
  // Half a code point would be found inside of another one.
  if (repair_utf8(pattern.text).has_value())
    throw make_error(ErrorCode::corrupt, where, ": the text to look for is not UTF-8");
  return std::make_unique<Literal>(std::move(pattern.text));
}

}  // namespace

Pattern::Pattern(PatternText pattern, std::string_view where) : matcher_(compile(std::move(pattern), where)) {}
Pattern::~Pattern() = default;
Pattern::Pattern(Pattern&&) noexcept = default;
Pattern& Pattern::operator=(Pattern&&) noexcept = default;

void Pattern::find_all(std::string_view text, std::vector<Span>& matches, WorkBudget& budget) const {
  matcher_->find_all(text, matches, budget);
}

}  // namespace alate::tokenizers
