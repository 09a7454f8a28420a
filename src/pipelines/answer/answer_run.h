// The stages of AnswerPipeline::answer (pipelines/calls/task_run.h).
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alate/answer.h"
#include "pipelines/answer/answer_spans.h"
#include "pipelines/calls/task_run.h"
#include "pipelines/calls/text_model.h"

namespace alate {

struct AnswerPipeline::State : pipelines::TextModel {
  pipelines::QuestionOrder order;
};

}  // namespace alate

namespace alate::pipelines {

inline constexpr std::size_t kMostAnswers = 1000;  // AnswerOptions::top_k

/// The pipeline of a loaded model with a head for question answering. Throws as require_task.
AnswerPipeline answerer_of(TextModel model);

class AnswerRun final : public TaskRun {
 public:
  /// The texts must live until `finish` returns. Throws invalid_argument for options out of range and an empty
  /// question.
  AnswerRun(AnswerPipeline pipeline, std::string question, std::vector<std::string_view> texts, AnswerOptions options);

  std::shared_ptr<const runtime::BatchProgram> program() const override;
  std::size_t size() const override { return texts_.size(); }
  std::string excess() const override;
  /// Of each text; after `finish`.
  std::vector<std::vector<Answer>>& answers() { return answers_; }

 private:
  TextRows make_rows(const base::Cancellation& cancellation) override;
  void take(const RowResults& results) override;
  Pieces pieces() const override { return Pieces::rows; }
  void require_room() const;
  void check_question(const base::Cancellation& cancellation) const;

  AnswerPipeline pipeline_;
  std::string question_;
  std::vector<std::string_view> texts_;
  AnswerOptions options_;
  std::vector<std::vector<Answer>> answers_;
  // The text whose windows are not all computed yet.
  std::optional<std::string> repaired_;
  std::optional<TextAnswers> begun_;
  ComparedBytes compared_;
};

}  // namespace alate::pipelines
