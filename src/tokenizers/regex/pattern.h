// Patterns of normalizers, pre-tokenizers and decoders: a literal text, or a regular expression in Oniguruma's syntax.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizers/aligned_text.h"
#include "tokenizers/work_budget.h"

namespace alate::tokenizers {

struct PatternText {
  std::string text;
  bool is_regex = false;
};

/// A compiled pattern. Immutable; thread-safe.
class Pattern {
 public:
  /// `where` names the pattern's place in errors. Throws corrupt for a malformed regular expression or a
  /// text that is not UTF-8, unsupported for a construct that is not known here, resource_exhausted for an expression
  /// that is too long or too large.
  Pattern(PatternText pattern, std::string_view where);
  ~Pattern();
  Pattern(Pattern&&) noexcept;
  Pattern& operator=(Pattern&&) noexcept;

  /// Appends the byte ranges of all matches in valid UTF-8, in order, without overlap; as in the reference, a match may
  /// be empty unless it follows the previous one directly. Throws resource_exhausted if the search exceeds its limits
  /// or uses up the budget's time, and cancelled.
  void find_all(std::string_view text, std::vector<Span>& matches, WorkBudget& budget) const;

  /// What finds the matches.
  class Matcher {
   public:
    virtual ~Matcher() = default;
    virtual void find_all(std::string_view text, std::vector<Span>& matches, WorkBudget& budget) const = 0;
  };

 private:
  std::unique_ptr<const Matcher> matcher_;
};

}  // namespace alate::tokenizers
