// Lines of a ranking in the formats that a user may choose.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "apps/alate/common_options.h"

namespace alate::app {

/// The members that a line of jsonl has of its own, besides "text".
inline constexpr std::array<std::string_view, 3> kRankingMembers = {"index", "relevance_score", "truncated"};

struct RankedText {
  std::size_t index = 0;
  float score = 0;
  std::string_view text;
  std::string_view members;  // as InputText::members; only for jsonl
  bool is_truncated = false;
};

/// Its line, in text, jsonl or csv.
std::string ranking_line(OutputFormat format, const RankedText& ranked);

/// What comes before the lines.
std::string_view ranking_head(OutputFormat format);

}  // namespace alate::app
