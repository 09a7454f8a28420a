// Feature extraction with options that hold for all calls, as in Termite.
#pragma once

#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "alate/embedding.h"
#include "alate/model.h"
#include "alate/run_control.h"

namespace alate {

/// Options of feature extraction; absent ones are as the model's folder says.
struct FeatureExtractionOptions {
  LoadOptions load = {};
  std::optional<std::size_t> max_length = {};  // in tokens, with special tokens
  std::optional<bool> normalization = {};
  std::optional<Pooling> pooling = {};
  std::size_t batch_size = 0;  // maximum texts per batch; 0: as many as fit
};

/// Feature extraction from texts or raw tensors. Immutable; thread-safe; copies share the model.
class FeatureExtraction {
 public:
  /// Throws as EmbeddingPipeline::load.
  static FeatureExtraction load(const std::filesystem::path& path, const FeatureExtractionOptions& options = {},
                                const RunControl& control = {});

  /// Row i of the vectors belongs to text i.
  Embeddings extract(std::span<const std::string> texts, const RunControl& control = {}) const;
  Embeddings extract(std::span<const std::string_view> texts, const RunControl& control = {}) const;
  Embeddings extract(std::initializer_list<std::string_view> texts, const RunControl& control = {}) const {
    return extract(std::span<const std::string_view>(texts.begin(), texts.size()), control);
  }
  Embeddings extract(std::string_view text, const RunControl& control = {}) const {
    return extract(std::span<const std::string_view>(&text, 1), control);
  }
  /// As Model::forward: "last_hidden_state" and any other outputs of the model.
  NamedTensors forward(const NamedTensors& inputs, const RunControl& control = {}) const {
    return pipeline_.model().forward(inputs, control);
  }
  const EmbeddingPipeline& pipeline() const { return pipeline_; }
  const std::string& backend() const { return pipeline_.facts().backend; }

 private:
  FeatureExtraction(EmbeddingPipeline pipeline, EmbedOptions options)
      : pipeline_(std::move(pipeline)), options_(std::move(options)) {}

  EmbeddingPipeline pipeline_;
  EmbedOptions options_;
};

}  // namespace alate
