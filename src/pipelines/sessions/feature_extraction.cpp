#include "alate/feature_extraction.h"

namespace alate {

FeatureExtraction FeatureExtraction::load(const std::filesystem::path& path, const FeatureExtractionOptions& options,
                                          const RunControl& control) {
  EmbedOptions embed;
  embed.max_length = options.max_length;
  embed.normalize = options.normalization;
  embed.batch_size = options.batch_size;
  return {EmbeddingPipeline::load(path, {options.load, options.pooling}, control), std::move(embed)};
}

Embeddings FeatureExtraction::extract(std::span<const std::string> texts, const RunControl& control) const {
  return pipeline_.embed(texts, options_, control);
}

Embeddings FeatureExtraction::extract(std::span<const std::string_view> texts, const RunControl& control) const {
  return pipeline_.embed(texts, options_, control);
}

}  // namespace alate
