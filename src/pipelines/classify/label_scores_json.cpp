#include "pipelines/classify/label_scores_json.h"

#include "formats/json.h"

namespace alate::pipelines {

std::string label_scores_json(std::span<const LabelScore> scores) {
  std::string out = "[";
  for (const LabelScore& one : scores) {
    out += out.size() > 1 ? R"(,{"label":)" : R"({"label":)";
    formats::append_json_string(out, one.label);
    out += R"(,"score":)";
    formats::append_json_number(out, one.score);
    out += '}';
  }
  return out += ']';
}

}  // namespace alate::pipelines
