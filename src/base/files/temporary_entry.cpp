#include "base/files/temporary_entry.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "base/files/descriptor_io.h"
#include "base/files/temporary_entry_system.h"
#include "base/files/write_error.h"

namespace alate::base {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTemporaryMark = ".tmp.";
constexpr int kMostAttempts = 10'000;
constexpr std::size_t kMostListed = 1'000'000;  // a folder with more entries is not searched to its end
constexpr std::size_t kMostDigits = 10;

// What a temporary name begins with; the numbers of the process and of the entry follow.
std::string beginning_of_names(const fs::path& target, EntryKind kind) {
  return (kind == EntryKind::folder ? "." : "") + target.filename().string() + std::string(kTemporaryMark);
}

std::optional<std::uint64_t> take_number(std::string_view& text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits == 0 || digits > kMostDigits || (digits > 1 && text[0] == '0')) return std::nullopt;
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + digits, number);
  text.remove_prefix(digits);
  return number;
}

// The process in a temporary name; nothing for any other name.
std::optional<std::uint64_t> process_in(std::string_view name, std::string_view beginning) {
  if (!name.starts_with(beginning)) return std::nullopt;
  name.remove_prefix(beginning.size());
  const auto process = take_number(name);
  if (!process || !name.starts_with('.')) return std::nullopt;
  name.remove_prefix(1);
  return take_number(name) && name.empty() ? process : std::nullopt;
}

}  // namespace

TemporaryEntry::TemporaryEntry(fs::path target, EntryKind kind, unsigned mode) : target_(std::move(target)) {
  static std::atomic<unsigned> counter{0};
  std::error_code ignored;
  if (!target_.has_filename() || (kind == EntryKind::file && fs::is_directory(target_, ignored)))
    throw file_write_error(target_, EISDIR);
  const std::string beginning = beginning_of_names(target_, kind) + std::to_string(own_process_number()) + ".";
  for (int attempt = 1;; ++attempt) {
    path_ = target_.parent_path() / (beginning + std::to_string(counter.fetch_add(1)));
    unfinished_.emplace(path_);  // before it exists: a signal may end the process at any moment
    if (create_temporary(path_, kind, mode, descriptor_)) break;
    const int error = errno;
    unfinished_.reset();  // another's
    if (error != EEXIST || attempt == kMostAttempts) throw file_write_error(target_, error);
  }
}

TemporaryEntry::TemporaryEntry(Kept, fs::path target) : target_(std::move(target)), is_kept_(true) {
  std::error_code ignored;
  if (!target_.has_filename() || fs::is_directory(target_, ignored)) throw file_write_error(target_, EISDIR);
  path_ = target_;
  path_ += ".partial";
  descriptor_ = open_descriptor_to_continue(path_);
  if (descriptor_ >= 0) return;
  if (errno == EBUSY)
    throw make_error(ErrorCode::unavailable, "another process writes ", path_.string(), "; wait until it has ended");
  throw file_write_error(target_, errno);
}

TemporaryEntry::~TemporaryEntry() {
  if (!path_.empty() && !is_kept_) remove_entry(path_.c_str());
  close();
}

void TemporaryEntry::discard() noexcept {
  remove_entry(path_.c_str());
  path_.clear();
  unfinished_.reset();
  close();
}

void TemporaryEntry::close() {
  if (descriptor_ >= 0) (void)close_descriptor(std::exchange(descriptor_, -1));
}

void TemporaryEntry::publish() {
  if (!rename_temporary(path_, target_, descriptor_)) throw file_write_error(target_, errno);
  path_.clear();
  unfinished_.reset();
  close();
}

void remove_abandoned_entries(const fs::path& target, EntryKind kind) {
  const std::string beginning = beginning_of_names(target, kind);
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  std::vector<std::pair<fs::path, std::uint64_t>> found;
  std::error_code error;
  std::size_t listed = 0;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end && listed < kMostListed;
       entry.increment(error), ++listed) {
    if (const auto process = process_in(entry->path().filename().string(), beginning))
      found.emplace_back(entry->path(), *process);
  }
  for (const auto& [path, process] : found) remove_if_abandoned(path, kind, process);
}

}  // namespace alate::base
