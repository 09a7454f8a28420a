#include <windows.h>

#include <fcntl.h>
#include <io.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "base/files/descriptor_io.h"

namespace alate::base {
namespace {

constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;  // the C run time uses 32-bit counts
constexpr int kFlags = _O_BINARY | _O_NOINHERIT;

HANDLE handle_of(int descriptor) { return reinterpret_cast<HANDLE>(::_get_osfhandle(descriptor)); }

OVERLAPPED overlapped_at(std::int64_t place) {
  OVERLAPPED at{};
  at.Offset = static_cast<DWORD>(place);
  at.OffsetHigh = static_cast<DWORD>(place >> 32);
  return at;
}

}  // namespace

int open_descriptor_to_read(const std::filesystem::path& path) { return ::_wopen(path.c_str(), _O_RDONLY | kFlags); }
int open_descriptor_to_write(const std::filesystem::path& path) { return ::_wopen(path.c_str(), _O_WRONLY | kFlags); }

int open_descriptor_to_continue(const std::filesystem::path& path) {
  const HANDLE handle = ::CreateFileW(path.c_str(), GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_DELETE, nullptr,
                                      OPEN_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr);
  if (handle == INVALID_HANDLE_VALUE) {
    errno = ::GetLastError() == ERROR_SHARING_VIOLATION ? EBUSY : EACCES;
    return -1;
  }
  const int descriptor = ::_open_osfhandle(reinterpret_cast<intptr_t>(handle), kFlags);
  if (descriptor < 0) {
    ::CloseHandle(handle);
    errno = EMFILE;
  }
  return descriptor;
}

bool resize_descriptor(int descriptor, std::int64_t bytes) {
  return ::_chsize_s(descriptor, bytes) == 0 && ::_lseeki64(descriptor, bytes, SEEK_SET) == bytes;
}

bool close_descriptor(int descriptor) { return ::_close(descriptor) == 0; }
bool sync_descriptor(int descriptor) { return ::_commit(descriptor) == 0; }
bool settle_descriptor(int) { return true; }

std::ptrdiff_t read_descriptor(int descriptor, void* out, std::size_t bytes) {
  return ::_read(descriptor, out, static_cast<unsigned>(std::min(bytes, kMostAtOnce)));
}

std::ptrdiff_t write_descriptor(int descriptor, std::string_view bytes) {
  const int put = ::_write(descriptor, bytes.data(), static_cast<unsigned>(std::min(bytes.size(), kMostAtOnce)));
  // This C run time reports a pipe without a reader as an invalid argument.
  if (put < 0 && errno == EINVAL) errno = EPIPE;
  return put;
}

std::ptrdiff_t read_descriptor_at(int descriptor, std::int64_t place, void* out, std::size_t bytes) {
  std::size_t done = 0;
  while (done < bytes) {
    OVERLAPPED at = overlapped_at(place + static_cast<std::int64_t>(done));
    DWORD got = 0;
    const auto count = static_cast<DWORD>(std::min(bytes - done, kMostAtOnce));
    if (::ReadFile(handle_of(descriptor), static_cast<char*>(out) + done, count, &got, &at) == 0) {
      if (::GetLastError() == ERROR_HANDLE_EOF) break;
      errno = EIO;
      return -1;
    }
    if (got == 0) break;
    done += got;
  }
  return static_cast<std::ptrdiff_t>(done);
}

bool write_descriptor_at(int descriptor, std::int64_t place, std::string_view bytes) {
  while (!bytes.empty()) {
    OVERLAPPED at = overlapped_at(place);
    DWORD put = 0;
    const auto count = static_cast<DWORD>(std::min(bytes.size(), kMostAtOnce));
    if (::WriteFile(handle_of(descriptor), bytes.data(), count, &put, &at) == 0) {
      errno = ::GetLastError() == ERROR_DISK_FULL ? ENOSPC : EIO;
      return false;
    }
    bytes.remove_prefix(put);
    place += put;
  }
  return true;
}

bool wait_for_input(int descriptor, std::chrono::milliseconds patience) {
  const HANDLE handle = handle_of(descriptor);
  const DWORD type = ::GetFileType(handle);
  if (type == FILE_TYPE_CHAR) return false;
  if (type != FILE_TYPE_PIPE) return true;
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (;;) {
    DWORD bytes = 0;
    // A pipe without a writer is at its end.
    if (::PeekNamedPipe(handle, nullptr, 0, nullptr, &bytes, nullptr) == 0 || bytes > 0) return true;
    if (std::chrono::steady_clock::now() >= deadline) return false;
    ::Sleep(1);
  }
}

std::int64_t position_in_file(int descriptor) {
  return ::GetFileType(handle_of(descriptor)) == FILE_TYPE_DISK ? ::_telli64(descriptor) : -1;
}

std::int64_t bytes_of_file(int descriptor) {
  return ::GetFileType(handle_of(descriptor)) == FILE_TYPE_DISK ? ::_filelengthi64(descriptor) : -1;
}

bool seek_in_file(int descriptor, std::int64_t position) {
  return ::_lseeki64(descriptor, position, SEEK_SET) == position;
}

// Writing no bytes changes nothing, but needs the right to write.
bool is_writable(int descriptor) {
  DWORD put = 0;
  return ::GetFileType(handle_of(descriptor)) != FILE_TYPE_UNKNOWN &&
         ::WriteFile(handle_of(descriptor), "", 0, &put, nullptr) != 0;
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
