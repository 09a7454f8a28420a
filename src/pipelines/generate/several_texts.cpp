// TextGenerator::generate_several.
#include <algorithm>
#include <utility>

#include "alate/error.h"
#include "alate/generation.h"

namespace alate {
namespace {

constexpr std::size_t kMostTexts = 1024;  // of one prompt

double mean_logprob(const Generation& text) {
  double sum = 0;
  for (const GeneratedToken& token : text.tokens) sum += double{token.logprob};
  return text.tokens.empty() ? 0 : sum / static_cast<double>(text.tokens.size());
}

}  // namespace

std::vector<std::vector<Generation>> TextGenerator::generate_several(std::span<const std::string_view> prompts,
                                                                     const TextCounts& counts,
                                                                     const GenerationOptions& options,
                                                                     const RunControl& control) const {
  const std::size_t made = std::max(counts.n, counts.best_of);
  if (counts.n == 0 || made > kMostTexts)
    throw make_error(ErrorCode::invalid_argument, "n and best_of are whole numbers from 1 to ", kMostTexts,
                     ": they are ", counts.n, " and ", counts.best_of);
  if (counts.best_of != 0 && counts.best_of < counts.n)
    throw make_error(ErrorCode::invalid_argument, "best_of is ", counts.best_of, ", fewer than the ", counts.n,
                     " texts that are asked for");
  GenerationOptions wanted = options;
  if (made > counts.n && !wanted.sampling.logprobs) wanted.sampling.logprobs = 0;
  std::vector<std::string_view> repeated;
  for (const std::string_view prompt : prompts) repeated.insert(repeated.end(), made, prompt);
  std::vector<Generation> all = generate(repeated, wanted, control);
  std::vector<std::vector<Generation>> results;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(i * made);
    std::vector<Generation>& texts = results.emplace_back(
        std::make_move_iterator(begin), std::make_move_iterator(begin + static_cast<std::ptrdiff_t>(made)));
    if (made == counts.n) continue;
    std::ranges::stable_sort(texts, std::greater(), mean_logprob);
    texts.resize(counts.n);
  }
  return results;
}

}  // namespace alate
