// Finds the text most similar to a question.
//   embed MODEL QUESTION TEXT…
// MODEL is what it is for the program alate: a folder, a name in the models directory, or builtin:minilm.
#include <cstddef>
#include <cstdio>
#include <exception>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "alate/embedding.h"
#include "alate/find_model.h"

namespace {

/// Cosine similarity of two unit vectors.
float cosine_similarity(std::span<const float> a, std::span<const float> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0f);
}

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() < 3) {
    std::fprintf(stderr, "usage: embed MODEL QUESTION TEXT...\n");
    return 2;
  }
  const auto pipeline = alate::EmbeddingPipeline::load(alate::find_model(arguments[0]));
  const std::span<const std::string> texts = std::span(arguments).subspan(1);

  alate::EmbedOptions options;
  options.normalize = true;
  const alate::Embeddings embeddings = pipeline.embed(texts, options);

  const std::span<const float> vectors = embeddings.vectors.values<float>();
  const std::size_t dimensions = pipeline.dimensions();
  const auto question = vectors.first(dimensions);
  for (std::size_t i = 1; i < texts.size(); ++i) {
    std::printf("%6.3f  %s\n", cosine_similarity(question, vectors.subspan(i * dimensions, dimensions)),
                texts[i].c_str());
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "embed: %s\n", error.what());
  return 1;
}
