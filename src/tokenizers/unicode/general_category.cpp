#include "tokenizers/unicode/general_category.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace alate::tokenizers {
namespace {

#include "tokenizers/unicode/general_categories.inc"

constexpr std::size_t kCategoryBlock = 128;
constexpr std::size_t kCategoryBlocks = 0x110000 / kCategoryBlock;
constexpr std::size_t kCategoryRows = 512;  // as many as are needed, and some

// Two levels: a block of code points, then the entry in its row; uniform blocks of a category share a row.
struct CategoryTable {
  std::array<std::uint16_t, kCategoryBlocks> block_row{};
  std::array<std::array<GeneralCategory, kCategoryBlock>, kCategoryRows> rows{};
};

consteval CategoryTable make_category_table() {
  CategoryTable table;
  std::array<std::uint16_t, 32> uniform{};  // row of a category, plus one
  std::uint16_t used = 0;
  std::size_t run = 0;
  for (std::size_t block = 0; block < kCategoryBlocks; ++block) {
    const std::size_t first = block * kCategoryBlock;
    const auto end_of = [](std::size_t r) {
      return r + 1 < std::size(kCategoryRuns) ? kCategoryRuns[r + 1].first : char32_t{0x110000};
    };
    while (end_of(run) <= first) ++run;
    const GeneralCategory category = kCategoryRuns[run].category;
    if (end_of(run) >= first + kCategoryBlock) {
      if (uniform[category] == 0) {
        table.rows[used].fill(category);
        uniform[category] = ++used;
      }
      table.block_row[block] = static_cast<std::uint16_t>(uniform[category] - 1);
      continue;
    }
    std::size_t r = run;
    for (std::size_t entry = 0; entry < kCategoryBlock; ++entry) {
      while (end_of(r) <= first + entry) ++r;
      table.rows[used][entry] = kCategoryRuns[r].category;
    }
    table.block_row[block] = used++;
  }
  return table;
}

constexpr CategoryTable kCategoryTable = make_category_table();

}  // namespace

std::span<const CategoryRun> category_runs() { return kCategoryRuns; }

GeneralCategory general_category(char32_t c) {
  return kCategoryTable.rows[kCategoryTable.block_row[c / kCategoryBlock]][c % kCategoryBlock];
}

}  // namespace alate::tokenizers
