// The stages of RecognizePipeline::recognize (pipelines/calls/task_run.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alate/recognize.h"
#include "pipelines/calls/task_run.h"
#include "pipelines/calls/text_model.h"
#include "pipelines/extract/extract_call.h"
#include "pipelines/gliner/gliner_call.h"
#include "pipelines/gliner/label_prompt.h"

namespace alate {

struct RecognizePipeline::State : pipelines::TextModel {
  std::vector<std::string> labels;         // of each logit of a token
  std::optional<std::int32_t> unknown_id;  // of the unknown token
  std::optional<pipelines::Gliner> gliner;
  std::optional<pipelines::Extractor> extractor;  // of a GLiNER2 model
  Aggregation usual_aggregation = Aggregation::simple;
};

}  // namespace alate

namespace alate::pipelines {

/// The recognizer of a loaded model with a head for token classification, or of a GLiNER or GLiNER2 model. Throws as
/// require_task, read_gliner and read_extractor.
RecognizePipeline recognizer_of(TextModel model);

class RecognizeRun : public TaskRun {
 public:
  /// The texts must live until `finish` returns. Throws invalid_argument for labels that the model does not have, and
  /// for options that it cannot meet.
  RecognizeRun(RecognizePipeline pipeline, std::vector<std::string_view> texts, RecognizeOptions options);

  std::shared_ptr<const runtime::BatchProgram> program() const override;
  std::size_t size() const override { return texts_.size(); }
  std::string excess() const override;
  /// Of each text; after `finish`.
  std::vector<std::vector<Entity>>& entities() { return entities_; }

 protected:
  std::string_view text(std::size_t i) const { return texts_[i]; }
  TextRows make_rows(const base::Cancellation& cancellation) override;
  void take(const RowResults& results) override;

 private:
  /// A text whose windows are not all computed yet.
  struct BegunText {
    std::vector<Entity> entities;  // of its windows so far
    std::size_t windows = 0;
    std::optional<std::string> repaired;
    AnswerBudget budget;
  };

  Pieces pieces() const override { return Pieces::rows; }
  void take_token_labels(const RowResults& results);
  void take_extractions(const RowResults& results);

  RecognizePipeline pipeline_;
  std::vector<std::string_view> texts_;
  RecognizeOptions options_;
  std::optional<GlinerCall> gliner_;
  std::optional<ExtractCall> extract_;
  std::vector<std::vector<Entity>> entities_;
  BegunText begun_;
};

}  // namespace alate::pipelines
