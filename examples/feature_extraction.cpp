// Hidden states per token, and text vectors with custom pooling.
//   feature_extraction MODEL TEXT…
#include <cstdio>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "alate/feature_extraction.h"
#include "alate/find_model.h"

int main(int argc, char** argv) try {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() < 2) {
    std::fprintf(stderr, "usage: feature_extraction MODEL TEXT...\n");
    return 2;
  }
  const std::span<const std::string> texts = std::span(arguments).subspan(1);
  const auto features = alate::FeatureExtraction::load(alate::find_model(arguments[0]),
                                                       {.normalization = false, .pooling = alate::Pooling::cls});
  std::printf("on %s: %s\n", features.backend().c_str(), features.pipeline().facts().selection.reason.c_str());

  const alate::Embeddings pooled = features.extract(texts);
  std::printf("%zu texts, %zu tokens, vectors %s\n", texts.size(), pooled.tokens,
              to_string(pooled.vectors.shape()).c_str());

  const alate::Encoding encoding = features.pipeline().tokenizer().encode(texts.front());
  const std::vector<std::int64_t> ids(encoding.ids.begin(), encoding.ids.end());
  const alate::Tensor row =
      alate::Tensor::from<std::int64_t>({1, static_cast<std::int64_t>(ids.size())}, std::span(ids));
  for (const auto& [name, tensor] : features.forward({{"input_ids", row}}))
    std::printf("%s is %s\n", name.c_str(), to_string(tensor.shape()).c_str());
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "feature_extraction: %s\n", error.what());
  return 1;
}
