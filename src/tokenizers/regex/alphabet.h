// The alphabet of a regular expression: code points that no set of it tells apart are one letter.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizers/regex/code_point_set.h"

namespace alate::tokenizers {

/// Maps texts to one byte a code point, so that an engine for bytes matches them without any knowledge of Unicode: a
/// set of code points is a set of letters. Immutable; thread-safe.
class Alphabet {
 public:
  using Letters = std::array<bool, 256>;

  /// Throws unsupported, naming `where`, if the sets tell more than 256 kinds of code points apart.
  Alphabet(const std::vector<CodePointSet>& sets, std::string_view where);

  /// The letters of the code points in the set with this number.
  const Letters& letters_of(std::size_t set) const { return letters_[set]; }
  std::size_t size() const { return size_; }

  /// Replaces `spelled` by the letters of valid UTF-8.
  void spell(std::string_view text, std::string& spelled) const;

 private:
  static constexpr std::size_t kPage = 128;  // the first page is ASCII
  using Page = std::array<std::uint8_t, kPage>;

  std::vector<Page> pages_;
  std::array<std::uint16_t, 0x110000 / kPage> page_of_{};
  std::vector<Letters> letters_;
  std::size_t size_ = 0;
};

}  // namespace alate::tokenizers
