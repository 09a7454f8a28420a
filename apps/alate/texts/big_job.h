// Inputs of any length through a verb, in constant memory: docs/big-jobs.md.
#pragma once

#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "alate/tensor.h"
#include "apps/alate/arguments.h"
#include "apps/alate/common_options.h"
#include "apps/alate/output.h"
#include "apps/alate/texts/job_part.h"
#include "apps/alate/texts/on_error.h"
#include "apps/alate/texts/progress.h"
#include "apps/alate/texts/resume.h"
#include "apps/alate/texts/text_source.h"

namespace alate::app {

/// What a user may choose.
struct BigJobOptions {
  OnError on_error = OnError::stop;
  bool resumes = false;
  bool hides_progress = false;
};
/// Declares --on-error, --resume and --no-progress.
void declare(Arguments& arguments, BigJobOptions& options);

/// What is particular to a verb.
struct BigJobSettings {
  std::string_view verb;
  BigJobOptions options = {};
  OutputFormat format = OutputFormat::text;
  bool is_streamed = true;              // results may be read before the last is known
  std::string_view not_resumable = {};  // why this format cannot be continued, and what can; empty: it can
  // The size of a part: enough to fill batches well, and little memory.
  std::size_t part_inputs = 4096, part_bytes = std::size_t{4} << 20;
};

/// A job from its inputs to its output. Reading and preparing run on one thread, computing on another, and writing on
/// the caller's; parts are written in the order of the input. One per command:
///
///     BigJob job(arguments, common, {...});       // opens the output, before long work
///     TextSource& source = job.open(input);
///     job.count_single_texts();                   // where all lines are to be checked before the model is loaded
///     ...                                         // the model
///     job.take_up([&] { return identity_of(...); });  // --resume
///     Writer writer(job.output(), job.done());
///     job.run([&] { return std::make_unique<SomePart>(...); });
///     ...                                         // what the output ends with
///     job.finish(max_length);
class BigJob {
 public:
  /// Throws invalid_argument where --resume cannot work; otherwise as Output.
  BigJob(const Arguments& arguments, const CommonOptions& common, const BigJobSettings& settings,
         const TextInput& input);
  BigJob(const BigJob&) = delete;
  BigJob& operator=(const BigJob&) = delete;

  Output& output() { return *output_; }
  /// Opens the input. Throws as TextSource.
  TextSource& open(TextInput input);
  /// Finds what is wrong with an input of single texts that can be read twice before hours of work go into the texts
  /// before that line. Returns how many texts there are; nothing for an input that can be read only once.
  std::optional<std::size_t> count_single_texts();

  /// With --resume, goes on with the job that an earlier run has begun if it has the same identity, which takes in all
  /// that the result depends on but the input and BigJobSettings. Call after `open`.
  void take_up(const std::function<FingerprintBuilder()>& identity_of_result);
  /// Whether the output has something of an earlier run, and for how many inputs.
  bool is_begun() const { return state_.input.bytes > 0; }
  std::size_t done() const { return state_.texts; }

  /// Puts all inputs through parts that `make_part` makes. Throws what their steps throw, and invalid_argument if all
  /// lines were refused.
  void run(const std::function<std::unique_ptr<JobPart>()>& make_part);

  /// Completes the output. `max_length` is named in the warning of texts that were cut.
  void finish(std::size_t max_length = 0);
  /// The same where `output` was only a store for another output, which is complete.
  void finish_without_output(std::size_t max_length = 0);

 private:
  using Clock = std::chrono::steady_clock;
  using MakePart = std::function<std::unique_ptr<JobPart>()>;
  struct Frame {
    std::unique_ptr<JobPart> part;
    std::size_t inputs = 0;
    std::vector<RefusedLine> refused = {};
    std::exception_ptr failure = nullptr;  // of the line behind the part, in answers that are streamed
    InputPosition position = {};           // behind the part; only with --resume
    std::optional<double> share = {};      // of the whole input, up to there

    bool is_empty() const { return inputs == 0 && refused.empty(); }
  };

  void fill(Frame& frame, const std::stop_token& stop);
  std::optional<Frame> read(const MakePart& make_part, const std::stop_token& stop);
  void write(Frame& frame, Progress& progress);
  void save();

  const CommonOptions& common_;
  BigJobSettings settings_;
  TextInput input_;  // without its arguments
  std::optional<Output> output_;
  std::optional<TextSource> source_;
  std::optional<std::size_t> total_;
  std::optional<ResumableJob> resumable_;
  JobState state_;
  std::optional<Clock::time_point> saved_;
  bool has_unsaved_ = false;
  bool ends_early_ = false;  // parts end where the input pauses, since someone waits for the results
  bool is_first_ = true;     // of the parts to be read
};

}  // namespace alate::app
