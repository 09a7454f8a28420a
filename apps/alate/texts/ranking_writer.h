// Writes a ranking of texts in the formats that a user may choose.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/alate/common_options.h"
#include "apps/alate/output.h"

namespace alate::app {

/// The members that a line of jsonl has of its own, besides "text".
inline constexpr std::array<std::string_view, 3> kRankingMembers = {"index", "relevance_score", "truncated"};

struct RankedTexts {
  std::vector<float> scores;           // in the order of the texts, like all lists
  std::vector<std::string> texts;      // not needed for json
  std::vector<std::string> members;    // of JSON lines, as InputText::members; only for jsonl
  std::vector<std::size_t> truncated;  // indices, ascending
  std::size_t tokens = 0;
  std::int64_t total_ns = 0, load_ns = 0;
};

/// Writes the best `count` texts, the best first; absent: all. Finishing the output is up to the caller.
void write_ranking(OutputFormat format, Output& output, std::string_view model, const RankedTexts& ranked,
                   std::optional<std::size_t> count);

}  // namespace alate::app
