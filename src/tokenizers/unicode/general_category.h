// General categories of code points, as the regular expressions of the reference tokenizer have them.
#pragma once

#include <cstdint>
#include <span>

namespace alate::tokenizers {

enum GeneralCategory : std::uint8_t {
  kLu,
  kLl,
  kLt,
  kLm,
  kLo,
  kMn,
  kMc,
  kMe,
  kNd,
  kNl,
  kNo,
  kPc,
  kPd,
  kPs,
  kPe,
  kPi,
  kPf,
  kPo,
  kSm,
  kSc,
  kSk,
  kSo,
  kZs,
  kZl,
  kZp,
  kCc,
  kCf,
  kCs,
  kCo,
  kCn,
};

/// A run of code points of one category, up to the next run.
struct CategoryRun {
  char32_t first;
  GeneralCategory category;
};

/// All runs, in order.
std::span<const CategoryRun> category_runs();

/// Sets of categories, as bits.
constexpr std::uint32_t category_bit(GeneralCategory category) { return std::uint32_t{1} << category; }
inline constexpr std::uint32_t kCategoriesL = 0x1F;
inline constexpr std::uint32_t kCategoriesM = 0x7 << kMn;
inline constexpr std::uint32_t kCategoriesN = 0x7 << kNd;
inline constexpr std::uint32_t kCategoriesP = 0x7F << kPc;
inline constexpr std::uint32_t kCategoriesS = 0xF << kSm;
inline constexpr std::uint32_t kCategoriesZ = 0x7 << kZs;
inline constexpr std::uint32_t kCategoriesC = 0x1F << kCc;

/// The category of a code point; `c` must be one.
GeneralCategory general_category(char32_t c);

}  // namespace alate::tokenizers
