// --resume: how far a job has come, in a file beside its output, so that a later run can go on with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "alate/embedding.h"
#include "apps/alate/common_options.h"
#include "apps/alate/texts/line_reader.h"
#include "apps/alate/texts/on_error.h"
#include "apps/alate/texts/text_parts.h"

namespace alate::app {

/// All of a job up to the end of one of its parts.
struct JobState {
  std::string job;      // what its result depends on, besides the texts: JobOutput
  InputPosition input;  // behind the part's last line
  std::int64_t output_bytes = 0;
  std::size_t texts = 0;
  CutTexts cut;
  SkippedLines skipped;
};

/// The state of a job with --resume, as OUT.resume. One thread at a time.
class ResumableJob {
 public:
  /// `folder` is the model's, `input` the file of the texts. Throws unavailable if a file cannot be queried.
  ResumableJob(const std::filesystem::path& out, const std::filesystem::path& folder, const EmbeddingPipeline& pipeline,
               const EmbedOptions& options, const std::filesystem::path& input, const std::string& more);

  /// The state that an earlier run has left, if the output has the bytes that it had then and `source`, which has
  /// been checked and is at its first text, still has what was read: it is then behind that. Otherwise nothing, and
  /// `source` is at its first text; logs why if there was a state.
  std::optional<JobState> take_up(TextSource& source, std::int64_t output_bytes) const;
  /// Puts a state on disk. Throws as base::write_file_atomically.
  void save(const JobState& state) const;
  /// Removes the state: the job is complete.
  void finish() const;

 private:
  std::filesystem::path path_;
  std::string job_;
};

}  // namespace alate::app
