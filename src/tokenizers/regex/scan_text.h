// A text under a hand-written scanner: classes of its code points, and runs of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tokenizers/unicode/general_category.h"

namespace alate::tokenizers {

/// Classes of code points that the patterns of tokenizers ask for, as bits.
enum ScanClass : std::uint16_t {
  kScanL = 1,         // letters
  kScanM = 2,         // marks
  kScanN = 4,         // numbers
  kScanP = 8,         // punctuation
  kScanS = 16,        // symbols
  kScanSpace = 32,    // \s
  kScanNewline = 64,  // \r and \n
  kScanUpper = 128,   // Lu, Lt, Lm, Lo, M: what may begin a capitalized word
  kScanLower = 256,   // Ll, Lm, Lo, M
  kScanAny = 512,     // any code point at all
};

constexpr std::uint16_t scan_classes_of(GeneralCategory category) {
  const std::uint32_t bit = category_bit(category);
  const auto if_in = [&](std::uint32_t categories, std::uint16_t classes) -> std::uint16_t {
    return (bit & categories) != 0 ? classes : std::uint16_t{0};
  };
  return static_cast<std::uint16_t>(
      kScanAny | if_in(kCategoriesL, kScanL) | if_in(kCategoriesM, kScanM) | if_in(kCategoriesN, kScanN) |
      if_in(kCategoriesP, kScanP) | if_in(kCategoriesS, kScanS) | if_in(kCategoriesZ, kScanSpace) |
      if_in((kCategoriesL | kCategoriesM) & ~category_bit(kLl), kScanUpper) |
      if_in((kCategoriesL | kCategoriesM) & ~(category_bit(kLu) | category_bit(kLt)), kScanLower));
}

/// The classes of all bytes below 0x80, and of each category.
extern const std::array<std::uint16_t, 128> kAsciiScanClasses;
extern const std::array<std::uint16_t, 32> kCategoryScanClasses;

/// A code point of a text; classes and length are 0 at the end.
struct ScannedLetter {
  std::uint16_t classes;
  std::uint32_t length;
};

/// Valid UTF-8.
class ScanText {
 public:
  explicit ScanText(std::string_view text) : text_(text) {}

  std::size_t size() const { return text_.size(); }
  /// The byte, or 0 at and after the end.
  unsigned char byte(std::size_t at) const { return at < text_.size() ? static_cast<unsigned char>(text_[at]) : 0; }

  ScannedLetter letter(std::size_t at) const {
    if (at >= text_.size()) return {0, 0};
    const auto first = static_cast<unsigned char>(text_[at]);
    if (first < 0x80) return {kAsciiScanClasses[first], 1};
    return wide_letter(at);
  }

  /// The end of the run of code points from `at` that are in some class of `some` and in none of `none`.
  std::size_t run(std::size_t at, std::uint16_t some, std::uint16_t none = 0) const {
    for (;;) {
      while (at < text_.size() && static_cast<unsigned char>(text_[at]) < 0x80) {
        const std::uint16_t classes = kAsciiScanClasses[static_cast<unsigned char>(text_[at])];
        if ((classes & some) == 0 || (classes & none) != 0) return at;
        ++at;
      }
      const ScannedLetter next = letter(at);
      if ((next.classes & some) == 0 || (next.classes & none) != 0) return at;
      at += next.length;
    }
  }

  std::size_t newlines(std::size_t at) const {
    while (byte(at) == '\n' || byte(at) == '\r') ++at;
    return at;
  }

 private:
  /// The letter at `at`, which is beyond ASCII.
  ScannedLetter wide_letter(std::size_t at) const;

  std::string_view text_;
};

}  // namespace alate::tokenizers
