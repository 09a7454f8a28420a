#include "output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "alate/error.h"
#include "base/mapped_file.h"

namespace alate::app {
namespace {

constexpr std::size_t kFlushBytes = std::size_t{1} << 16;

[[noreturn]] void fail(std::string_view name, int error) {
  const bool is_full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  throw make_error(is_full ? ErrorCode::resource_exhausted : ErrorCode::unavailable, "cannot write ", name, ": ",
                   std::generic_category().message(error));
}

// Devices and pipes are written to; a rename would replace them by a file.
bool is_written_in_place(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

void write_in_place(const std::filesystem::path& path, std::string_view bytes) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) fail(path.string(), errno);
  try {
    write_to_descriptor(descriptor, bytes, path.string());
  } catch (...) {
    ::close(descriptor);
    throw;
  }
  if (::close(descriptor) != 0) fail(path.string(), errno);
}

}  // namespace

void write_to_descriptor(int descriptor, std::string_view bytes, std::string_view name) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(descriptor, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno == EPIPE && descriptor == STDOUT_FILENO) throw OutputClosed();
    if (put < 0) fail(name, errno);
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
}

bool Output::is_terminal() const { return !is_file() && ::isatty(STDOUT_FILENO) == 1; }

void Output::write(std::string_view bytes) {
  waiting_ += bytes;
  if (!is_file() && waiting_.size() >= kFlushBytes) flush();
}

void Output::write(std::span<const std::byte> bytes) {
  write(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

void Output::flush() {
  if (is_file()) return;
  write_to_descriptor(STDOUT_FILENO, waiting_, "standard output");
  waiting_.clear();
}

void Output::finish() {
  if (!is_file()) return flush();
  if (is_written_in_place(path_)) return write_in_place(path_, waiting_);
  // A link stays a link: the file that it names is replaced.
  std::error_code error;
  auto target = std::filesystem::weakly_canonical(path_, error);
  if (error) target = path_;
  base::write_file_atomically(target, std::as_bytes(std::span(waiting_)));
}

}  // namespace alate::app
