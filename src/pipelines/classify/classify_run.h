// The stages of ClassifyPipeline::classify (pipelines/calls/task_run.h).
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "alate/classify.h"
#include "pipelines/calls/task_run.h"
#include "pipelines/calls/text_model.h"
#include "pipelines/classify/score_function.h"

namespace alate {

struct ClassifyPipeline::State : pipelines::TextModel {
  std::vector<std::string> labels;  // of each logit
  pipelines::ScoreFunction function = pipelines::ScoreFunction::softmax;
};

}  // namespace alate

namespace alate::pipelines {

/// The classifier of a loaded model with a head for sequence classification. Throws as require_task.
ClassifyPipeline classifier_of(TextModel model);

class ClassifyRun final : public TaskRun {
 public:
  /// The texts, which may be pairs where no labels are given, must live until `prepare` returns. Throws
  /// invalid_argument for a template without its {} and for labels without text.
  ClassifyRun(ClassifyPipeline pipeline, std::vector<EncodeInput> texts, ClassifyOptions options);

  std::shared_ptr<const runtime::BatchProgram> program() const override;
  std::size_t size() const override { return count_; }
  std::string excess() const override;
  /// Of each text; after `finish`.
  std::vector<std::vector<LabelScore>>& answers() { return answers_; }

 private:
  TextRows make_rows(const base::Cancellation& cancellation) override;
  void take(const RowResults& results) override;
  void require_room(std::span<const EncodeInput> texts) const;

  ClassifyPipeline pipeline_;
  std::vector<EncodeInput> texts_;
  ClassifyOptions options_;
  std::size_t count_;
  std::vector<std::vector<LabelScore>> answers_;
};

}  // namespace alate::pipelines
