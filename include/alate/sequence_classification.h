// Classification of texts with options that hold for all calls, as in Termite.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/classify.h"
#include "alate/model.h"
#include "alate/run_control.h"
#include "alate/session.h"

namespace alate {

struct SequenceClassificationOptions {
  LoadOptions load = {};
  ClassifyOptions classify = {};
};

/// Classification of texts or raw tensors. Immutable; thread-safe; copies share the model.
class SequenceClassification {
 public:
  /// Throws as ClassifyPipeline::load.
  static SequenceClassification load(const std::filesystem::path& path,
                                     const SequenceClassificationOptions& options = {},
                                     const RunControl& control = {}) {
    return {ClassifyPipeline::load(path, options.load, control), options.classify};
  }
  /// The same with a model that all who ask the session manager share, on a backend by its priority; `supported` is as
  /// in SessionManager::load_model. Throws as that too.
  static SequenceClassification load(SessionManager& sessions, const std::filesystem::path& path,
                                     const SequenceClassificationOptions& options = {},
                                     const std::vector<BackendPlace>& supported = {}, const RunControl& control = {}) {
    return {ClassifyPipeline::over(sessions.load_model(path, supported, options.load, control).model),
            options.classify};
  }

  /// Entry i has the labels of text i. Throws as ClassifyPipeline::classify.
  Classifications classify(std::span<const std::string> texts, const RunControl& control = {}) const {
    return pipeline_.classify(texts, options_, control);
  }
  Classifications classify(std::span<const std::string_view> texts, const RunControl& control = {}) const {
    return pipeline_.classify(texts, options_, control);
  }
  Classifications classify(std::initializer_list<std::string_view> texts, const RunControl& control = {}) const {
    return pipeline_.classify(std::span<const std::string_view>(texts.begin(), texts.size()), options_, control);
  }
  /// As Model::forward: "logits" of each row.
  NamedTensors forward(const NamedTensors& inputs, const RunControl& control = {}) const {
    return pipeline_.model().forward(inputs, control);
  }
  const ClassifyPipeline& pipeline() const { return pipeline_; }
  const std::string& backend() const { return pipeline_.facts().backend; }

 private:
  SequenceClassification(ClassifyPipeline pipeline, ClassifyOptions options)
      : pipeline_(std::move(pipeline)), options_(std::move(options)) {}

  ClassifyPipeline pipeline_;
  ClassifyOptions options_;
};

}  // namespace alate
