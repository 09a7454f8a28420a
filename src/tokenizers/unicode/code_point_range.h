// Ranges of code points.
#pragma once

namespace alate::tokenizers {

/// An inclusive range.
struct CodePointRange {
  char32_t first;
  char32_t last;

  bool operator==(const CodePointRange&) const = default;
};

}  // namespace alate::tokenizers
