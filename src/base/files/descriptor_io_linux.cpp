#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/files/descriptor_io.h"

namespace alate::base {

int open_descriptor_to_read(const std::filesystem::path& path) { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); }
int open_descriptor_to_write(const std::filesystem::path& path) { return ::open(path.c_str(), O_WRONLY | O_CLOEXEC); }
bool close_descriptor(int descriptor) { return ::close(descriptor) == 0; }

std::ptrdiff_t read_descriptor(int descriptor, void* out, std::size_t bytes) {
  for (;;) {
    const ssize_t got = ::read(descriptor, out, bytes);
    if (got >= 0 || errno != EINTR) return got;
  }
}

std::ptrdiff_t write_descriptor(int descriptor, std::string_view bytes) {
  for (;;) {
    const ssize_t put = ::write(descriptor, bytes.data(), bytes.size());
    if (put >= 0 || errno != EINTR) return put;
  }
}

int redirect_stdout_to_stderr() {
  const int aside = ::fcntl(kStandardOutput, F_DUPFD_CLOEXEC, kStandardError + 1);
  return aside < 0 || ::dup2(kStandardError, kStandardOutput) < 0 ? -1 : aside;
}

bool is_terminal(int descriptor) { return ::isatty(descriptor) == 1; }

bool is_full_disk(int error) { return error == ENOSPC || error == EDQUOT || error == EFBIG; }

}  // namespace alate::base
