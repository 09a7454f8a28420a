#include <fcntl.h>
#include <io.h>

#include <algorithm>
#include <cerrno>

#include "base/files/descriptor_io.h"

namespace alate::base {
namespace {

constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;  // the C run time uses 32-bit counts
constexpr int kFlags = _O_BINARY | _O_NOINHERIT;

}  // namespace

int open_descriptor_to_read(const std::filesystem::path& path) { return ::_wopen(path.c_str(), _O_RDONLY | kFlags); }
int open_descriptor_to_write(const std::filesystem::path& path) { return ::_wopen(path.c_str(), _O_WRONLY | kFlags); }
bool close_descriptor(int descriptor) { return ::_close(descriptor) == 0; }

std::ptrdiff_t read_descriptor(int descriptor, void* out, std::size_t bytes) {
  return ::_read(descriptor, out, static_cast<unsigned>(std::min(bytes, kMostAtOnce)));
}

std::ptrdiff_t write_descriptor(int descriptor, std::string_view bytes) {
  const int put = ::_write(descriptor, bytes.data(), static_cast<unsigned>(std::min(bytes.size(), kMostAtOnce)));
  // This C run time reports a pipe without a reader as an invalid argument.
  if (put < 0 && errno == EINVAL) errno = EPIPE;
  return put;
}

int redirect_stdout_to_stderr() {
  const int aside = ::_dup(kStandardOutput);
  if (aside < 0 || ::_dup2(kStandardError, kStandardOutput) < 0) return -1;
  ::_setmode(aside, _O_BINARY);
  return aside;
}

bool is_terminal(int descriptor) { return ::_isatty(descriptor) != 0; }

bool is_full_disk(int error) { return error == ENOSPC || error == EFBIG; }

}  // namespace alate::base
