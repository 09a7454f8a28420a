// The stages of FillPipeline::fill (pipelines/calls/task_run.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alate/fill.h"
#include "pipelines/calls/task_run.h"
#include "pipelines/calls/text_model.h"
#include "pipelines/fill/fill_program.h"

namespace alate {

struct FillPipeline::State : pipelines::TextModel {
  std::string mask;
  std::int32_t mask_id = 0;
  std::optional<std::int32_t> pad_id;  // left out of filled texts
  bool cleans_up_spaces = false;       // in decoded texts
};

}  // namespace alate

namespace alate::pipelines {

inline constexpr std::size_t kMostFills = 1000;  // FillOptions::top_k

/// The pipeline of a loaded model with a head for masked tokens. Throws as require_task, and unsupported for a
/// tokenizer without a mask.
FillPipeline filler_of(TextModel model);

class FillRun final : public TaskRun {
 public:
  /// The texts must live until `prepare` returns. Throws invalid_argument for options out of range; `prepare` does for
  /// targets that are no tokens.
  FillRun(FillPipeline pipeline, std::vector<std::string_view> texts, FillOptions options);

  std::shared_ptr<const runtime::BatchProgram> program() const override { return program_; }
  std::size_t size() const override { return count_; }
  std::string excess() const override;
  /// Of each text and mask; after `finish`.
  std::vector<std::vector<std::vector<Fill>>>& fills() { return fills_; }

 private:
  TextRows make_rows(const base::Cancellation& cancellation) override;
  void take(const RowResults& results) override;
  void choose_program(const base::Cancellation& cancellation);
  std::vector<Fill> fills_of(const std::vector<std::int32_t>& ids, std::size_t place, bool is_lone,
                             const std::vector<ScoredToken>& tokens);

  FillPipeline pipeline_;
  std::vector<std::string_view> texts_;
  FillOptions options_;
  std::size_t count_, tokens_of_mask_ = 0;
  std::shared_ptr<const FillProgram> program_;
  std::vector<std::vector<std::vector<Fill>>> fills_;
};

}  // namespace alate::pipelines
