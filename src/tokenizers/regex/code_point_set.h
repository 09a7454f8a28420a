// Sets of code points as sorted ranges: the character classes of a regular expression.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tokenizers/unicode/code_point_range.h"

namespace alate::tokenizers {

inline constexpr char32_t kLastCodePoint = 0x10FFFF;

class CodePointSet {
 public:
  CodePointSet() = default;
  explicit CodePointSet(std::span<const CodePointRange> ranges) { add(ranges); }

  static CodePointSet all() { return CodePointSet(CodePointRange{0, kLastCodePoint}); }
  explicit CodePointSet(CodePointRange range) : ranges_{range} {}

  void add(CodePointRange range) { add(std::span(&range, 1)); }
  void add(char32_t c) { add(CodePointRange{c, c}); }
  void add(std::span<const CodePointRange> ranges);
  void add(const CodePointSet& other) { add(other.ranges()); }
  CodePointSet complement() const;
  CodePointSet intersection(const CodePointSet& other) const;
  bool contains(char32_t c) const;
  bool empty() const { return ranges_.empty(); }

  /// Sorted, not touching each other.
  std::span<const CodePointRange> ranges() const { return ranges_; }

  bool operator==(const CodePointSet&) const = default;

 private:
  std::vector<CodePointRange> ranges_;
};

}  // namespace alate::tokenizers
