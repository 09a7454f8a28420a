#include "output.h"

#include <cerrno>
#include <system_error>

#include "alate/error.h"
#include "apps/alate/field_text.h"
#include "base/files/descriptor_io.h"
#include "base/files/write_error.h"

namespace alate::app {
namespace {

constexpr std::size_t kFlushBytes = std::size_t{1} << 16;

// Follows a symbolic link: its target is replaced, not the link.
std::filesystem::path file_to_replace(const std::filesystem::path& path) {
  std::error_code error;
  const auto target = std::filesystem::weakly_canonical(path, error);
  return error ? path : target;
}

}  // namespace

bool is_standard_output(const std::filesystem::path& path) { return path.empty() || path == "-"; }

bool is_written_in_place(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
         !std::filesystem::is_directory(status);
}

void write_to_descriptor(int descriptor, std::string_view bytes, std::string_view name) {
  while (!bytes.empty()) {
    const std::ptrdiff_t put = base::write_descriptor(descriptor, bytes);
    if (put < 0 && errno == EPIPE && descriptor != base::kStandardError) throw OutputClosed();
    if (put < 0) throw base::write_error(name, errno);
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
}

Output::Output(const std::filesystem::path& path) : name_(path.string()), descriptor_(base::kStandardOutput) {
  if (is_standard_output(path)) {
    name_ = "standard output";
    if (!base::is_writable(descriptor_))
      throw make_error(ErrorCode::invalid_argument,
                       "standard output is closed; redirect it to a file or a pipe, or name a file with --out");
  } else if (is_written_in_place(path)) {
    descriptor_ = base::open_descriptor_to_write(path);
    if (descriptor_ < 0) throw base::write_error(name_, errno);
  } else {
    const std::filesystem::path target = file_to_replace(path);
    base::remove_abandoned_entries(target, base::EntryKind::file);
    file_.emplace(target);
  }
}

Output::Output(Kept, const std::filesystem::path& path) : name_(path.string()), descriptor_(base::kStandardOutput) {
  file_.emplace(base::TemporaryEntry::Kept(), file_to_replace(path));
}

std::int64_t Output::kept_bytes() const { return file_.value().kept_bytes(); }
void Output::continue_at(std::int64_t bytes) { file_.value().continue_at(bytes); }

std::int64_t Output::sync() {
  flush();
  return file_.value().sync();
}

Output::~Output() {
  if (descriptor_ != base::kStandardOutput && descriptor_ >= 0) (void)base::close_descriptor(descriptor_);
}

void Output::put(std::string_view bytes) {
  if (file_) {
    file_->write(std::as_bytes(std::span(bytes)));
  } else {
    write_to_descriptor(descriptor_, bytes, name_);
  }
}

void Output::write(std::string_view bytes) {
  if (bytes.size() >= kFlushBytes) {
    flush();
    put(bytes);
    return;
  }
  waiting_ += bytes;
  if (waiting_.size() >= kFlushBytes) flush();
}

void Output::write(std::span<const std::byte> bytes) {
  write(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

void Output::write_made_text(std::string_view piece) {
  write(is_terminal() ? terminal_lines(piece) : std::string(piece));
  flush();
}

bool Output::is_terminal() const { return !is_file() && base::is_terminal(descriptor_); }

void Output::rewrite_start(std::string_view bytes) {
  if (!file_) throw make_error(ErrorCode::internal, name_, " cannot be written twice");
  flush();
  file_->rewrite_start(std::as_bytes(std::span(bytes)));
}

void Output::flush() {
  put(waiting_);
  waiting_.clear();
}

void Output::finish() {
  flush();
  if (file_) {
    file_->commit();
  } else if (!base::settle_descriptor(descriptor_)) {
    throw base::write_error(name_, errno);
  }
}

void Output::discard() noexcept {
  if (file_) file_->discard();
}

}  // namespace alate::app
