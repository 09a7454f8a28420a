#include "pipelines/generate/best_texts.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "alate/error.h"

namespace alate::pipelines {
namespace {

constexpr std::size_t kMostTexts = 1024;  // of one prompt

double mean_logprob(const Generation& text) {
  double sum = 0;
  for (const GeneratedToken& token : text.tokens) sum += double{token.logprob};
  return text.tokens.empty() ? 0 : sum / static_cast<double>(text.tokens.size());
}

}  // namespace

std::size_t made_texts(const TextCounts& counts) {
  const std::size_t made = std::max(counts.n, counts.best_of);
  if (counts.n == 0 || made > kMostTexts)
    throw make_error(ErrorCode::invalid_argument, "n and best_of are whole numbers from 1 to ", kMostTexts,
                     ": they are ", counts.n, " and ", counts.best_of);
  if (counts.best_of != 0 && counts.best_of < counts.n)
    throw make_error(ErrorCode::invalid_argument, "best_of is ", counts.best_of, ", fewer than the ", counts.n,
                     " texts that are asked for");
  return made;
}

GenerationOptions options_for(const TextCounts& counts, GenerationOptions options) {
  if (counts.best_of > counts.n && !options.sampling.logprobs) options.sampling.logprobs = 0;
  return options;
}

std::vector<std::size_t> best_texts(std::span<const Generation* const> texts, std::size_t n) {
  std::vector<std::size_t> order(texts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (texts.size() <= n) return order;
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return mean_logprob(*texts[i]); });
  order.resize(n);
  return order;
}

}  // namespace alate::pipelines
