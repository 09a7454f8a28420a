#include "pipelines/classify/score_function.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace alate::pipelines {

ScoreFunction score_function(const formats::Json& config, std::size_t labels) {
  const std::string type = config.get_string("problem_type", "");
  if (type == "regression") return ScoreFunction::none;
  if (type == "multi_label_classification" || labels == 1) return ScoreFunction::sigmoid;
  return ScoreFunction::softmax;
}

void scale_logits(ScoreFunction function, std::span<float> logits) {
  if (logits.empty() || function == ScoreFunction::none) return;
  if (function == ScoreFunction::sigmoid) {
    for (float& value : logits) value = static_cast<float>(1 / (1 + std::exp(-double{value})));
    return;
  }
  const double largest = std::ranges::max(logits);
  double sum = 0;
  for (const float value : logits) sum += std::exp(value - largest);
  for (float& value : logits) value = static_cast<float>(std::exp(value - largest) / sum);
}

std::size_t entailment_label(std::span<const std::string> labels) {
  const auto entails = [](std::string_view label) {
    constexpr std::string_view kBegin = "entail";
    const auto is_same = [](char one, char other) {
      return one == (other >= 'A' && other <= 'Z' ? other + 32 : other);
    };
    return label.size() >= kBegin.size() && std::ranges::equal(kBegin, label.substr(0, kBegin.size()), is_same);
  };
  const auto found = std::ranges::find_if(labels, entails);
  return found == labels.end() ? labels.size() - 1 : static_cast<std::size_t>(found - labels.begin());
}

}  // namespace alate::pipelines
