// Scores of pairs of texts with options that hold for all calls, as in Termite.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/model.h"
#include "alate/rerank.h"
#include "alate/run_control.h"
#include "alate/session.h"

namespace alate {

struct CrossEncoderOptions {
  LoadOptions load = {};
  RerankOptions rerank = {};
};

/// Scores of texts for a query, or of raw tensors. Immutable; thread-safe; copies share the model.
class CrossEncoder {
 public:
  /// Throws as RerankPipeline::load.
  static CrossEncoder load(const std::filesystem::path& path, const CrossEncoderOptions& options = {},
                           const RunControl& control = {}) {
    return {RerankPipeline::load(path, options.load, control), options.rerank};
  }
  /// The same with a model that all who ask the session manager share, on a backend by its priority; `supported` is as
  /// in SessionManager::load_model. Throws as that too, and unsupported for models of late interaction.
  static CrossEncoder load(SessionManager& sessions, const std::filesystem::path& path,
                           const CrossEncoderOptions& options = {}, const std::vector<BackendPlace>& supported = {},
                           const RunControl& control = {}) {
    return {RerankPipeline::over(sessions.load_model(path, supported, options.load, control).model), options.rerank};
  }

  /// Score i is that of text i. Throws as RerankPipeline::rerank.
  RerankScores score(std::string_view query, std::span<const std::string> texts, const RunControl& control = {}) const {
    return pipeline_.rerank(query, texts, options_, control);
  }
  RerankScores score(std::string_view query, std::span<const std::string_view> texts,
                     const RunControl& control = {}) const {
    return pipeline_.rerank(query, texts, options_, control);
  }
  RerankScores score(std::string_view query, std::initializer_list<std::string_view> texts,
                     const RunControl& control = {}) const {
    return pipeline_.rerank(query, std::span<const std::string_view>(texts.begin(), texts.size()), options_, control);
  }
  /// As Model::forward: "logits" of each row.
  NamedTensors forward(const NamedTensors& inputs, const RunControl& control = {}) const {
    return pipeline_.model().forward(inputs, control);
  }
  const RerankPipeline& pipeline() const { return pipeline_; }
  const std::string& backend() const { return pipeline_.facts().backend; }

 private:
  CrossEncoder(RerankPipeline pipeline, RerankOptions options)
      : pipeline_(std::move(pipeline)), options_(std::move(options)) {}

  RerankPipeline pipeline_;
  RerankOptions options_;
};

}  // namespace alate
