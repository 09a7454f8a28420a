// Token classification with options that hold for all calls, as in Termite.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/model.h"
#include "alate/recognize.h"
#include "alate/run_control.h"
#include "alate/session.h"

namespace alate {

struct TokenClassificationOptions {
  LoadOptions load = {};
  RecognizeOptions recognize = {};
};

/// Token classification of texts or raw tensors. Immutable; thread-safe; copies share the model.
class TokenClassification {
 public:
  /// Throws as RecognizePipeline::load.
  static TokenClassification load(const std::filesystem::path& path, const TokenClassificationOptions& options = {},
                                  const RunControl& control = {}) {
    return {RecognizePipeline::load(path, options.load, control), options.recognize};
  }

  /// The same with a model that all who ask the session manager share, on a backend by its priority; `supported` is as
  /// in SessionManager::load_model. Throws as that too.
  static TokenClassification load(SessionManager& sessions, const std::filesystem::path& path,
                                  const TokenClassificationOptions& options = {},
                                  const std::vector<BackendPlace>& supported = {}, const RunControl& control = {}) {
    return {RecognizePipeline::over(sessions.load_model(path, supported, options.load, control).model),
            options.recognize};
  }

  /// Entry i has the entities of text i. Throws as RecognizePipeline::recognize.
  Recognitions recognize(std::span<const std::string> texts, const RunControl& control = {}) const {
    return pipeline_.recognize(texts, options_, control);
  }
  Recognitions recognize(std::span<const std::string_view> texts, const RunControl& control = {}) const {
    return pipeline_.recognize(texts, options_, control);
  }
  Recognitions recognize(std::initializer_list<std::string_view> texts, const RunControl& control = {}) const {
    return pipeline_.recognize(texts, options_, control);
  }
  /// As Model::forward: "logits" of each token.
  NamedTensors forward(const NamedTensors& inputs, const RunControl& control = {}) const {
    return pipeline_.model().forward(inputs, control);
  }
  const RecognizePipeline& pipeline() const { return pipeline_; }
  const std::string& backend() const { return pipeline_.facts().backend; }

 private:
  TokenClassification(RecognizePipeline pipeline, RecognizeOptions options)
      : pipeline_(std::move(pipeline)), options_(std::move(options)) {}

  RecognizePipeline pipeline_;
  RecognizeOptions options_;
};

}  // namespace alate
