#include "tokenizers/unicode/character_classes.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tokenizers/unicode/code_point_range.h"

namespace alate::tokenizers {
namespace {

#include "tokenizers/unicode/character_ranges.inc"

// Code points whose decomposition or combining class was added in Unicode 10 or later: utf8proc has them, but the
// reference does not (its crate unicode-normalization-alignments 0.1.12 uses Unicode 9). Found by comparing both for
// every code point.
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

constexpr std::size_t kBlock = 256;
constexpr std::size_t kBlocks = 0x110000 / kBlock;
constexpr std::size_t kRows = 256;  // as many as a byte can index; about 150 are used

// A two-level table: a block of 256 code points, then the entry in its row. Blocks with the same classes throughout
// share a row. Built at compile time, so it costs nothing at program start.
struct ClassTable {
  std::array<std::uint8_t, kBlocks> block_row{};
  std::array<std::array<std::uint16_t, kBlock>, kRows> rows{};

  constexpr std::uint16_t at(char32_t c) const { return c < 0x110000 ? rows[block_row[c / kBlock]][c % kBlock] : 0; }
};

struct ClassRanges {
  std::span<const CodePointRange> ranges;
  std::uint16_t bit;
};

constexpr ClassRanges kClassRanges[] = {
    {kOtherRanges, kOther},
    {kWhitespaceRanges, kWhitespace},
    {kPunctuationRanges, kPunctuation},
    {kNonspacingMarkRanges, kNonspacingMark},
    {kCombiningMarkRanges, kCombiningMark},
    {kWordRanges, kWord},
    {kLaterMarkRanges, kLaterMark},
    {kNumericRanges, kNumeric},
    {kUnstableInNfcRanges, kUnstableInNfc},
};

// Calls visit(block, first entry, last entry, bit) for each range's part in each block.
template <typename Visit>
constexpr void for_each_part(const Visit& visit) {
  for (const ClassRanges& of_class : kClassRanges) {
    for (const CodePointRange& range : of_class.ranges) {
      for (std::size_t first = range.first; first <= range.last;) {
        const std::size_t block = first / kBlock;
        const std::size_t last = std::min<std::size_t>(range.last, block * kBlock + kBlock - 1);
        visit(block, first % kBlock, last % kBlock, of_class.bit);
        first = last + 1;
      }
    }
  }
}

consteval ClassTable make_class_table() {
  std::array<std::uint16_t, kBlocks> whole{};  // classes of all code points of a block
  std::array<bool, kBlocks> is_mixed{};
  for_each_part([&](std::size_t block, std::size_t first, std::size_t last, std::uint16_t bit) {
    if (last - first + 1 == kBlock) {
      whole[block] |= bit;
    } else {
      is_mixed[block] = true;
    }
  });

  ClassTable table;
  std::size_t used = 0;
  std::array<std::size_t, 512> row_plus_one{};  // row of uniform blocks, by their classes
  for (std::size_t block = 0; block < kBlocks; ++block) {
    std::size_t& shared = row_plus_one[whole[block]];
    if (is_mixed[block] || shared == 0) {
      table.rows[used].fill(whole[block]);
      ++used;
      if (!is_mixed[block]) shared = used;
      table.block_row[block] = static_cast<std::uint8_t>(used - 1);
    } else {
      table.block_row[block] = static_cast<std::uint8_t>(shared - 1);
    }
  }
  for_each_part([&](std::size_t block, std::size_t first, std::size_t last, std::uint16_t bit) {
    if (!is_mixed[block]) return;
    std::array<std::uint16_t, kBlock>& row = table.rows[table.block_row[block]];
    for (std::size_t entry = first; entry <= last; ++entry) row[entry] |= bit;
  });
  return table;
}

constexpr ClassTable kClassTable = make_class_table();

}  // namespace

std::uint16_t classes_of(char32_t c) { return kClassTable.at(c); }

}  // namespace alate::tokenizers
