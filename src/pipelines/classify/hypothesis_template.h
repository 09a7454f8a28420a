// What a label says of a text, in zero-shot classification.
#pragma once

#include <string>
#include <string_view>

namespace alate::pipelines {

/// Read as transformers does, by Python's str.format: {} or {0} stands for the label, {{ and }} for braces. One place
/// for the label is all that a template may have. Immutable.
class HypothesisTemplate {
 public:
  /// Throws invalid_argument for a template without the place of the label, with several, or with other braces.
  explicit HypothesisTemplate(std::string_view text);

  std::string of(std::string_view label) const { return before_ + std::string(label) + after_; }

 private:
  std::string before_, after_;
};

}  // namespace alate::pipelines
