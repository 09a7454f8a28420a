// The stages of ExtractPipeline::extract (pipelines/calls/task_run.h).
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "alate/extract.h"
#include "pipelines/calls/task_run.h"
#include "pipelines/calls/text_model.h"
#include "pipelines/extract/extract_call.h"

namespace alate {

struct ExtractPipeline::State : pipelines::TextModel {
  pipelines::Extractor extractor;
};

}  // namespace alate

namespace alate::pipelines {

/// The pipeline of a loaded GLiNER2 model. Throws as require_task and read_extractor.
ExtractPipeline extractor_of(TextModel model);

class ExtractRun final : public TaskRun {
 public:
  /// The texts must live until `finish` returns. Throws invalid_argument for a schema or a threshold that makes no
  /// sense.
  ExtractRun(ExtractPipeline pipeline, std::vector<std::string_view> texts, ExtractSchema schema,
             ExtractOptions options);

  std::shared_ptr<const runtime::BatchProgram> program() const override { return call_.program(); }
  std::size_t size() const override { return texts_.size(); }
  std::string excess() const override;
  /// Of each text; after `finish`.
  std::vector<Extraction>& extractions() { return extractions_; }

 private:
  TextRows make_rows(const base::Cancellation& cancellation) override;
  void take(const RowResults& results) override;
  Pieces pieces() const override { return Pieces::rows; }

  ExtractPipeline pipeline_;
  std::vector<std::string_view> texts_;
  ExtractOptions options_;
  ExtractCall call_;
  std::vector<Extraction> extractions_;
};

}  // namespace alate::pipelines
