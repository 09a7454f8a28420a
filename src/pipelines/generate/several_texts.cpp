// TextGenerator::generate_several.
#include <utility>

#include "alate/generation.h"
#include "pipelines/generate/best_texts.h"

namespace alate {

std::vector<std::vector<Generation>> TextGenerator::generate_several(std::span<const std::string_view> prompts,
                                                                     const TextCounts& counts,
                                                                     const GenerationOptions& options,
                                                                     const RunControl& control) const {
  const std::size_t made = pipelines::made_texts(counts);
  std::vector<std::string_view> repeated;
  for (const std::string_view prompt : prompts) repeated.insert(repeated.end(), made, prompt);
  std::vector<Generation> all = generate(repeated, pipelines::options_for(counts, options), control);
  std::vector<std::vector<Generation>> results;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    std::vector<const Generation*> texts;
    for (std::size_t j = 0; j < made; ++j) texts.push_back(&all[i * made + j]);
    std::vector<Generation>& kept = results.emplace_back();
    for (const std::size_t best : pipelines::best_texts(texts, counts.n))
      kept.push_back(std::move(all[i * made + best]));
  }
  return results;
}

}  // namespace alate
