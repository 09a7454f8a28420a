#include "pipelines/embed/similarity_json.h"

#include <cstddef>
#include <span>
#include <vector>

#include "formats/json.h"

namespace alate::pipelines {

std::string similarity_json(const Tensor& similarities, const AnswerFacts& facts) {
  const auto width = static_cast<std::size_t>(similarities.extent(1));
  std::vector<std::string> rows;
  for (std::size_t i = 0; i < static_cast<std::size_t>(similarities.extent(0)); ++i) {
    std::string row = "[";
    for (const float value : similarities.values<float>().subspan(i * width, width)) {
      if (row.size() > 1) row += ',';
      formats::append_json_number(row, value);
    }
    rows.push_back(row += ']');
  }
  return list_answer("similarities", rows, facts);
}

}  // namespace alate::pipelines
