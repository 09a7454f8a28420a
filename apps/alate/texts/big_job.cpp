#include "apps/alate/texts/big_job.h"

#include <utility>

#include "alate/error.h"
#include "apps/alate/program_version.h"
#include "base/files/file_identity.h"
#include "base/threads/read_ahead.h"

namespace alate::app {
namespace {

// A reader of standard output gets what is there once the input pauses. After so many bytes it has to pause for a
// while: programs that write as fast as they can leave short gaps, and large parts are fast.
constexpr std::size_t kPatientBytes = 4096;
constexpr auto kPatience = std::chrono::milliseconds(10);

constexpr auto kStopPatience = std::chrono::milliseconds(100);
constexpr auto kBetweenSaves = std::chrono::seconds(1);

void check_resume(const Arguments& arguments, const CommonOptions& common, const BigJobSettings& settings,
                  const TextInput& input) {
  if (input.file.empty() || input.file == "-" || is_written_in_place(input.file))
    throw arguments.usage_error("--resume needs --file FILE, which can be read again");
  if (is_standard_output(common.out) || is_written_in_place(common.out))
    throw arguments.usage_error("--resume needs --out FILE, which can be continued");
  if (!settings.not_resumable.empty())
    throw arguments.usage_error("--resume cannot continue this output: " + std::string(settings.not_resumable));
}

// Reading cannot be interrupted, so that it begins only when it need not wait.
bool is_stopped_before_text(TextSource& source, const std::stop_token& stop) {
  if (!stop.stop_possible() || source.is_typed()) return false;
  while (!stop.stop_requested() && source.may_wait(kStopPatience)) continue;
  return stop.stop_requested();
}

}  // namespace

void declare(Arguments& arguments, BigJobOptions& options) {
  declare(arguments, options.on_error);
  arguments.flag("--resume", "go on with a job that was interrupted: the same command, with --file and --out",
                 options.resumes);
  declare_progress(arguments, options.hides_progress);
}

BigJob::BigJob(const Arguments& arguments, const CommonOptions& common, const BigJobSettings& settings,
               const TextInput& input)
    : common_(common),
      settings_(settings),
      input_{.file = input.file, .format = input.format, .invalid_utf8 = input.invalid_utf8} {
  if (settings_.options.resumes) {
    check_resume(arguments, common, settings_, input);
    output_.emplace(Output::Kept(), common.out);
  } else {
    output_.emplace(common.out);
  }
  const bool is_lines = settings_.format == OutputFormat::text || settings_.format == OutputFormat::jsonl ||
                        settings_.format == OutputFormat::csv;
  ends_early_ = settings_.is_streamed && is_lines && !output_->is_file();
}

TextSource& BigJob::open(TextInput input) {
  source_.emplace(std::move(input));
  if (settings_.options.resumes) source_->keep_position();
  return *source_;
}

std::optional<std::size_t> BigJob::count_single_texts() {
  if (!source_->can_rewind()) return std::nullopt;
  std::size_t count = 0;
  for (;;) {
    try {
      if (!next_single_text(*source_, settings_.verb)) break;
      ++count;
    } catch (const RefusedText&) {
      if (settings_.options.on_error == OnError::stop) throw;
    }
  }
  source_->rewind();
  return total_ = count;
}

void BigJob::take_up(const std::function<FingerprintBuilder()>& identity_of_result) {
  if (!settings_.options.resumes) return;
  FingerprintBuilder identity = identity_of_result();
  identity.add(program_version()).add(settings_.verb);
  const std::size_t choices[] = {
      static_cast<std::size_t>(settings_.format), static_cast<std::size_t>(settings_.options.on_error),
      static_cast<std::size_t>(input_.invalid_utf8), input_.file.ends_with(".jsonl") ? std::size_t{1} : std::size_t{0}};
  for (const std::size_t choice : choices) identity.add(std::uint64_t{choice});
  identity.add(input_.format);
  const base::FileIdentity texts = base::file_identity(input_.file);
  identity.add(texts.bytes).add(static_cast<std::uint64_t>(texts.modified_ns));
  resumable_.emplace(common_.out, to_string(identity.finish()));
  state_ = resumable_->take_up(*source_, output_->kept_bytes()).value_or(JobState());
  output_->continue_at(state_.output_bytes);
  is_first_ = !is_begun();
}

void BigJob::fill(Frame& frame, const std::stop_token& stop) {
  std::size_t bytes = 0;
  while (frame.inputs + frame.refused.size() < settings_.part_inputs && bytes < settings_.part_bytes) {
    const auto patience = bytes < kPatientBytes ? std::chrono::milliseconds(0) : kPatience;
    if (ends_early_ && !frame.is_empty() && source_->may_wait(patience)) return;
    if (is_stopped_before_text(*source_, stop)) return;
    try {
      const std::optional<std::size_t> taken = frame.part->read(*source_);
      if (!taken) return;
      bytes += *taken;
      ++frame.inputs;
    } catch (const Error& error) {
      const bool is_refused = dynamic_cast<const RefusedText*>(&error) != nullptr;
      if (is_refused && settings_.options.on_error == OnError::skip) {
        frame.refused.push_back(refused_line(*source_, error, frame.inputs));
        continue;
      }
      if (!ends_early_ || frame.is_empty()) throw;
      frame.failure = std::current_exception();
      return;
    }
  }
}

std::optional<BigJob::Frame> BigJob::read(const MakePart& make_part, const std::stop_token& stop) {
  Frame frame{.part = make_part()};
  fill(frame, stop);
  if ((frame.is_empty() && !is_first_) || stop.stop_requested()) return std::nullopt;
  is_first_ = false;
  if (settings_.options.resumes) frame.position = source_->position();
  if (!total_) frame.share = source_->share();
  frame.part->prepare();
  return frame;
}

void BigJob::write(Frame& frame, Progress& progress) {
  frame.part->write({.first = state_.texts, .refused = frame.refused});
  if (!frame.refused.empty()) {
    const Progress::Hidden hidden = progress.hide();
    state_.skipped.add(frame.refused);
  }
  if (ends_early_) output_->flush();
  if (frame.failure) std::rethrow_exception(frame.failure);
  state_.cut.add(frame.part->truncated(), state_.texts);
  state_.texts += frame.inputs;
  if (!resumable_) return;
  state_.input = std::move(frame.position);
  has_unsaved_ = true;
  if (!saved_ || Clock::now() - *saved_ >= kBetweenSaves) save();
}

void BigJob::save() {
  state_.output_bytes = output_->sync();
  resumable_->save(state_);
  saved_ = Clock::now();
  has_unsaved_ = false;
}

void BigJob::run(const MakePart& make_part) {
  Progress progress(common_, output_->is_file() || !settings_.is_streamed, settings_.options.hides_progress,
                    settings_.verb, total_);
  progress.add_earlier(state_.texts, is_begun() && !total_ ? source_->share() : std::nullopt);
  const auto compute = [&](Frame& frame, base::Cancellation cancellation) {
    const std::function<void(std::size_t)> computed = [&](std::size_t inputs) { progress.add(inputs, frame.share); };
    frame.part->run({.cancellation = cancellation, .computed = computed});
  };
  if (source_->is_typed()) {
    // Someone who types is slower, and a thread that reads from a terminal could not be stopped.
    while (auto frame = read(make_part, {})) {
      compute(*frame, base::Cancellation::never());
      write(*frame, progress);
    }
  } else {
    base::ReadAhead<Frame> prepared([&](const std::stop_token& stop) { return read(make_part, stop); });
    base::ReadAhead<Frame> computed([&](const std::stop_token& stop) {
      std::optional<Frame> frame = prepared.next(stop);
      const auto is_stopped = [&stop] { return stop.stop_requested(); };
      if (frame) compute(*frame, base::Cancellation::when(is_stopped));
      return frame;
    });
    while (auto frame = computed.next()) write(*frame, progress);
  }
  if (has_unsaved_) save();
  progress.end();
  state_.skipped.finish(state_.texts);
}

void BigJob::finish(std::size_t max_length) {
  output_->finish();
  if (resumable_) resumable_->finish();
  state_.cut.warn(state_.texts, max_length);
}

void BigJob::finish_without_output(std::size_t max_length) {
  if (resumable_) resumable_->finish();
  output_->discard();
  state_.cut.warn(state_.texts, max_length);
}

}  // namespace alate::app
