#include "tokenizers/unicode/character_classes.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace alate::tokenizers {
namespace {

struct CodePointRange {
  char32_t first;
  char32_t last;
};

#include "tokenizers/unicode/character_ranges.inc"

// Code points whose decomposition or combining class came with Unicode 10 or later, so that utf8proc knows of it and
// the reference does not (the crate unicode-normalization-alignments 0.1.12 carries Unicode 9). Found by asking both
// for every code point.
constexpr CodePointRange kLaterMarkRanges[] = {
    {0x7FD, 0x7FD},     {0x898, 0x89F},     {0x8CA, 0x8D3},     {0x9FE, 0x9FE},     {0xC3C, 0xC3C},
    {0xD3B, 0xD3C},     {0xEBA, 0xEBA},     {0x1715, 0x1715},   {0x1ABF, 0x1ACE},   {0x1DF6, 0x1DFA},
    {0x32FF, 0x32FF},   {0xA7F2, 0xA7F4},   {0xA82C, 0xA82C},   {0xAB69, 0xAB69},   {0x10781, 0x10785},
    {0x10787, 0x107B0}, {0x107B2, 0x107BA}, {0x10D24, 0x10D27}, {0x10EAB, 0x10EAC}, {0x10EFD, 0x10EFF},
    {0x10F46, 0x10F50}, {0x10F82, 0x10F85}, {0x11070, 0x11070}, {0x1133B, 0x1133B}, {0x1145E, 0x1145E},
    {0x11839, 0x1183A}, {0x11938, 0x11938}, {0x1193D, 0x1193E}, {0x11943, 0x11943}, {0x119E0, 0x119E0},
    {0x11A34, 0x11A34}, {0x11A47, 0x11A47}, {0x11A99, 0x11A99}, {0x11D42, 0x11D42}, {0x11D44, 0x11D45},
    {0x11D97, 0x11D97}, {0x11F41, 0x11F42}, {0x16FF0, 0x16FF1}, {0x1E030, 0x1E06D}, {0x1E08F, 0x1E08F},
    {0x1E130, 0x1E136}, {0x1E2AE, 0x1E2AE}, {0x1E2EC, 0x1E2EF}, {0x1E4EC, 0x1E4EF}, {0x1F16C, 0x1F16C},
    {0x1FBF0, 0x1FBF9},
};

// Two steps: a block of 256 code points, then the entry in it. Blocks of one class alone share a row.
class ClassTable {
 public:
  ClassTable() {
    rows_.resize(kBlock);  // row 0: no class
    add(kOtherRanges, kOther);
    add(kWhitespaceRanges, kWhitespace);
    add(kPunctuationRanges, kPunctuation);
    add(kNonspacingMarkRanges, kNonspacingMark);
    add(kCombiningMarkRanges, kCombiningMark);
    add(kWordRanges, kWord);
    add(kLaterMarkRanges, kLaterMark);
    share_equal_rows();
  }

  std::uint8_t at(char32_t c) const {
    if (c >= 0x110000) return 0;
    return rows_[std::size_t{block_row_[c / kBlock]} * kBlock + c % kBlock];
  }

 private:
  static constexpr std::size_t kBlock = 256;

  void add(std::span<const CodePointRange> ranges, std::uint8_t bit) {
    for (const CodePointRange& range : ranges) {
      for (char32_t c = range.first; c <= range.last; ++c) {
        std::uint16_t& row = block_row_[c / kBlock];
        if (row == 0) {
          row = static_cast<std::uint16_t>(rows_.size() / kBlock);
          rows_.resize(rows_.size() + kBlock);
        }
        rows_[std::size_t{row} * kBlock + c % kBlock] |= bit;
      }
    }
  }

  // The private-use planes and the ideographs are thousands of equal rows; neighbours are enough to look at.
  void share_equal_rows() {
    std::vector<std::uint8_t> kept(rows_.begin(), rows_.begin() + kBlock);
    std::size_t last_row = 0;
    for (std::uint16_t& row : block_row_) {
      if (row == 0) continue;
      const std::span<const std::uint8_t> entries(rows_.data() + std::size_t{row} * kBlock, kBlock);
      const std::span<const std::uint8_t> last(kept.data() + last_row * kBlock, kBlock);
      if (!std::equal(entries.begin(), entries.end(), last.begin())) {
        last_row = kept.size() / kBlock;
        kept.insert(kept.end(), entries.begin(), entries.end());
      }
      row = static_cast<std::uint16_t>(last_row);
    }
    rows_ = std::move(kept);
  }

  std::array<std::uint16_t, 0x110000 / kBlock> block_row_{};
  std::vector<std::uint8_t> rows_;
};

}  // namespace

std::uint8_t classes_of(char32_t c) {
  static const ClassTable table;
  return table.at(c);
}

}  // namespace alate::tokenizers
