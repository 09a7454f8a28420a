#include "pipelines/rerank/ranking_json.h"

#include "alate/rerank.h"
#include "formats/json.h"

namespace alate::pipelines {

std::string ranking_json(const Ranking& ranking) {
  std::string out = begin_answer(ranking.facts.model);
  out += R"(,"scores":[)";
  for (std::size_t i = 0; i < ranking.scores.size(); ++i) {
    if (i > 0) out += ',';
    if (const auto error = ranking.errors.find(i); error != ranking.errors.end()) {
      out += error->second;
    } else {
      formats::append_json_number(out, ranking.scores[i]);
    }
  }
  out += R"(],"results":[)";
  for (const std::size_t index : best_first(ranking.scores, ranking.count, ranking.raw_scores)) {
    if (ranking.errors.contains(index)) continue;
    if (out.back() != '[') out += ',';
    out += R"({"index":)" + std::to_string(index) + R"(,"relevance_score":)";
    formats::append_json_number(out, ranking.scores[index]);
    out += '}';
  }
  out += ']';
  finish_answer(out, ranking.facts);
  return out;
}

}  // namespace alate::pipelines
