#include "apps/alate/texts/resume.h"

#include <algorithm>
#include <array>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "base/files/atomic_file.h"
#include "base/files/file_identity.h"
#include "base/files/mapped_file.h"
#include "base/log.h"
#include "formats/json.h"

namespace alate::app {
namespace {

namespace fs = std::filesystem;
using formats::Json;

constexpr std::int64_t kVersion = 1;
constexpr std::size_t kMostStateBytes = std::size_t{1} << 20;
constexpr int kMostFiles = 10'000;

bool tells_of_results(const fs::path& file) {
  constexpr std::array kEndings = {".json", ".txt", ".model", ".tiktoken", ".jinja", ".gguf"};
  return std::ranges::find(kEndings, file.extension().string()) != kEndings.end();
}

struct SavedState {
  std::string identity;
  JobState state;
};

std::optional<SavedState> read_state(const fs::path& path) {
  std::error_code error;
  if (fs::symlink_status(path, error).type() != fs::file_type::regular) return std::nullopt;
  const Json json = formats::parse_json(base::read_text_file(path, kMostStateBytes), path.string());
  if (json.get_int("version", 0) != kVersion)
    throw make_error(ErrorCode::unsupported, path.string(), " is of another version");
  const auto number = [&](std::string_view name) {
    const std::int64_t value = json.get_int(name, -1);
    if (value < 0) throw make_error(ErrorCode::corrupt, path.string(), " lacks ", name);
    return value;
  };
  JobState state;
  state.input = {.bytes = number("input_bytes"),
                 .lines = static_cast<std::size_t>(number("input_lines")),
                 .digest = json.get_string("input_sha256", "")};
  state.output_bytes = number("output_bytes");
  state.texts = static_cast<std::size_t>(number("texts"));
  state.cut = CutTexts(static_cast<std::size_t>(number("cut")), json.get_string("cut_indices", ""));
  state.skipped = SkippedLines(static_cast<std::size_t>(number("skipped")), json.get_string("first_skipped", ""));
  return SavedState{.identity = json.get_string("job", ""), .state = std::move(state)};
}

}  // namespace

void add_model_files(FingerprintBuilder& identity, const fs::path& model) {
  std::vector<fs::path> files;
  std::error_code error;
  if (fs::is_regular_file(model, error)) files.push_back(model);
  int listed = 0;
  for (fs::recursive_directory_iterator entry(model, error), end; !error && entry != end && listed < kMostFiles;
       entry.increment(error), ++listed) {
    if (tells_of_results(entry->path()) && entry->is_regular_file(error)) files.push_back(entry->path());
  }
  std::ranges::sort(files);
  for (const fs::path& file : files) {
    const base::FileIdentity found = base::file_identity(file);
    identity.add(file.string()).add(found.bytes).add(static_cast<std::uint64_t>(found.modified_ns));
  }
}

FingerprintBuilder identity_of_model(const Model& model, const fs::path& folder) {
  FingerprintBuilder identity;
  identity.add(model.fingerprint()).add(model.facts().backend).add(model.facts().dtype);
  add_model_files(identity, folder);
  return identity;
}

void add_number(FingerprintBuilder& identity, std::optional<std::size_t> number) {
  identity.add(std::uint64_t{number.has_value()}).add(std::uint64_t{number.value_or(0)});
}

ResumableJob::ResumableJob(const fs::path& out, std::string identity)
    : path_(out.string() + ".resume"), identity_(std::move(identity)) {}

std::optional<JobState> ResumableJob::take_up(TextSource& source, std::int64_t output_bytes) const {
  std::string reason;
  try {
    auto saved = read_state(path_);
    if (!saved) return std::nullopt;
    const JobState& state = saved->state;
    if (saved->identity != identity_) {
      reason = "the model, an option, the input or the version of Alate is another one";
    } else if (state.output_bytes > output_bytes) {
      reason = "a part of the output is gone";
    } else if (!source.skip_to(state.input)) {
      reason = "the input has changed";
    } else {
      base::log(base::LogLevel::info, "the job goes on", {{"texts_done", std::to_string(state.texts)}});
      return std::move(saved->state);
    }
  } catch (const Error& error) {
    reason = error.message();
  }
  source.rewind();
  base::log(base::LogLevel::warn, "the job begins anew", {{"reason", reason}}, "the job begins anew: " + reason);
  return std::nullopt;
}

void ResumableJob::save(const JobState& state) const {
  const Json json = Json::Object{{"version", kVersion},
                                 {"job", identity_},
                                 {"input_bytes", state.input.bytes},
                                 {"input_lines", std::uint64_t{state.input.lines}},
                                 {"input_sha256", state.input.digest},
                                 {"output_bytes", state.output_bytes},
                                 {"texts", std::uint64_t{state.texts}},
                                 {"cut", std::uint64_t{state.cut.count()}},
                                 {"cut_indices", state.cut.shown()},
                                 {"skipped", std::uint64_t{state.skipped.count()}},
                                 {"first_skipped", state.skipped.first()}};
  const std::string text = formats::to_json_text(json) + "\n";
  base::write_file_atomically(path_, std::as_bytes(std::span(text)));
}

void ResumableJob::finish() const {
  std::error_code ignored;
  fs::remove(path_, ignored);
}

}  // namespace alate::app
