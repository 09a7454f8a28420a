// --resume: how far a job has come, in a file beside its output, so that a later run can go on with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "alate/model.h"
#include "alate/tensor.h"
#include "apps/alate/texts/cut_texts.h"
#include "apps/alate/texts/line_reader.h"
#include "apps/alate/texts/on_error.h"

namespace alate::app {

/// All of a job up to the end of one of its parts.
struct JobState {
  InputPosition input = {};  // behind the part's last line
  std::int64_t output_bytes = 0;
  std::size_t texts = 0;
  CutTexts cut = {};
  SkippedLines skipped = {};
};

/// Adds the settings, tokenizer and modules of a model's folder, or the file that a model is, by size and time: its
/// weights have a fingerprint of their own. Throws unavailable if a file cannot be queried.
void add_model_files(FingerprintBuilder& identity, const std::filesystem::path& model);

/// The beginning of the identity of a loaded model's results: its weights, the backend, the type it computes in, and
/// the files of its folder. Throws as add_model_files.
FingerprintBuilder identity_of_model(const Model& model, const std::filesystem::path& folder);
/// Adds a number that an option may give.
void add_number(FingerprintBuilder& identity, std::optional<std::size_t> number);

/// The state of a job with --resume, as OUT.resume. One thread at a time.
class ResumableJob {
 public:
  /// `identity` tells jobs apart whose results differ.
  ResumableJob(const std::filesystem::path& out, std::string identity);

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
  std::string identity_;
};

}  // namespace alate::app
