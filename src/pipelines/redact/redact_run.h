// Redaction in stages (pipelines/calls/task_run.h).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "alate/redact.h"
#include "pipelines/recognize/recognize_run.h"

namespace alate::pipelines {

/// Throws invalid_argument as alate::redact.
void check_redaction(const RecognizeOptions& options);

class RedactRun final : public RecognizeRun {
 public:
  /// The texts must live until `finish` returns, and the redactor too, which several runs may share if they finish one
  /// after the other. Throws as check_redaction and RecognizeRun.
  RedactRun(RecognizePipeline pipeline, std::vector<std::string_view> texts, const RecognizeOptions& options,
            std::shared_ptr<Redactor> redactor);

  /// Of each text, redacted; empty for one that is too long. After `finish`.
  std::vector<std::string>& texts() { return redacted_; }

 private:
  void take(const RowResults& results) override;

  std::shared_ptr<Redactor> redactor_;
  std::vector<std::string> redacted_;
};

}  // namespace alate::pipelines
