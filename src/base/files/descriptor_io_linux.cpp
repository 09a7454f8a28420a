#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "base/files/descriptor_io.h"

namespace alate::base {
namespace {

// Whether a failed call is worth repeating. Whoever shares a standard stream may have made it non-blocking: then this
// waits until it is ready.
bool is_to_be_repeated(int descriptor, short event) {
  if (errno == EINTR) return true;
  if (errno != EAGAIN) return false;
  pollfd entry = {descriptor, event, 0};
  return ::poll(&entry, 1, -1) > 0 || errno == EINTR;
}

}  // namespace

int open_descriptor_to_read(const std::filesystem::path& path) { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); }
int open_descriptor_to_write(const std::filesystem::path& path) { return ::open(path.c_str(), O_WRONLY | O_CLOEXEC); }

int open_descriptor_to_continue(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
  if (descriptor < 0) return descriptor;
  struct stat facts {};
  const bool is_file = ::fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode);
  // Some file systems know no locks.
  if (is_file && (::flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)) return descriptor;
  ::close(descriptor);
  errno = is_file ? EBUSY : EEXIST;
  return -1;
}

bool resize_descriptor(int descriptor, std::int64_t bytes) {
  return ::ftruncate(descriptor, bytes) == 0 && ::lseek(descriptor, bytes, SEEK_SET) == bytes;
}

bool close_descriptor(int descriptor) { return ::close(descriptor) == 0; }
bool sync_descriptor(int descriptor) { return ::fsync(descriptor) == 0; }

bool settle_descriptor(int descriptor) {
  const int copy = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  return copy < 0 || ::close(copy) == 0;
}

std::ptrdiff_t read_descriptor(int descriptor, void* out, std::size_t bytes) {
  for (;;) {
    const ssize_t got = ::read(descriptor, out, bytes);
    if (got >= 0 || !is_to_be_repeated(descriptor, POLLIN)) return got;
  }
}

std::ptrdiff_t write_descriptor(int descriptor, std::string_view bytes) {
  for (;;) {
    const ssize_t put = ::write(descriptor, bytes.data(), bytes.size());
    if (put >= 0 || !is_to_be_repeated(descriptor, POLLOUT)) return put;
  }
}

std::ptrdiff_t read_descriptor_at(int descriptor, std::int64_t place, void* out, std::size_t bytes) {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t got =
        ::pread(descriptor, static_cast<char*>(out) + done, bytes - done, place + static_cast<std::int64_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return static_cast<std::ptrdiff_t>(done);
}

bool write_descriptor_at(int descriptor, std::int64_t place, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(descriptor, bytes.data(), bytes.size(), place);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(put));
    place += put;
  }
  return true;
}

bool wait_for_input(int descriptor, std::chrono::milliseconds patience) {
  const auto most = static_cast<std::int64_t>(std::numeric_limits<int>::max());
  pollfd entry = {descriptor, POLLIN, 0};
  return ::poll(&entry, 1, static_cast<int>(std::clamp<std::int64_t>(patience.count(), 0, most))) > 0;
}

std::int64_t position_in_file(int descriptor) {
  struct stat facts {};
  if (::fstat(descriptor, &facts) != 0 || !S_ISREG(facts.st_mode)) return -1;
  return ::lseek(descriptor, 0, SEEK_CUR);
}

std::int64_t bytes_of_file(int descriptor) {
  struct stat facts {};
  return ::fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode) ? facts.st_size : -1;
}

bool seek_in_file(int descriptor, std::int64_t position) { return ::lseek(descriptor, position, SEEK_SET) == position; }

bool is_writable(int descriptor) {
  const int flags = ::fcntl(descriptor, F_GETFL);
  return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

int redirect_stdout_to_stderr() {
  const int aside = ::fcntl(kStandardOutput, F_DUPFD_CLOEXEC, kStandardError + 1);
  return aside < 0 || ::dup2(kStandardError, kStandardOutput) < 0 ? -1 : aside;
}

bool is_terminal(int descriptor) { return ::isatty(descriptor) == 1; }

bool is_full_disk(int error) { return error == ENOSPC || error == EDQUOT || error == EFBIG; }

}  // namespace alate::base
