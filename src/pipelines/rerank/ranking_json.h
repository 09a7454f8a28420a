// The answer of POST /api/rerank, which is also that of `alate rerank --output json`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace alate::pipelines {

struct Ranking {
  std::string_view model;
  std::span<const float> scores;     // in the order of the texts
  std::optional<std::size_t> count;  // of results; absent: all
  std::int64_t total_ns = 0, load_ns = 0;
  std::size_t tokens = 0;
  std::span<const std::size_t> truncated;
};

/// {"model": …, "scores": […], "results": [{"index": …, "relevance_score": …}, …], …}, the best result first.
std::string ranking_json(const Ranking& ranking);

}  // namespace alate::pipelines
