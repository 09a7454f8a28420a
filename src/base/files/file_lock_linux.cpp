#include "base/files/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "alate/error.h"

namespace alate::base {

FileLock::FileLock(const std::filesystem::path& path) : FileLock(path, Wait::yes) {}

FileLock::FileLock(const std::filesystem::path& path, Wait wait) {
  const int number = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (number < 0)
    throw make_error(errno == ENOENT ? ErrorCode::not_found : ErrorCode::unavailable, "cannot open ", path.string(),
                     ": ", std::generic_category().message(errno));
  while (::flock(number, wait == Wait::yes ? LOCK_EX : LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    const int problem = errno;
    ::close(number);
    if (problem == EWOULDBLOCK) return;
    throw make_error(ErrorCode::unavailable, "cannot lock ", path.string(), ": ",
                     std::generic_category().message(problem));
  }
  handle_ = number;
}

std::unique_ptr<FileLock> FileLock::try_lock(const std::filesystem::path& path) {
  std::unique_ptr<FileLock> lock(new FileLock(path, Wait::no));
  if (lock->handle_ < 0) lock.reset();
  return lock;
}

FileLock::~FileLock() {
  if (handle_ >= 0) ::close(static_cast<int>(handle_));
}

}  // namespace alate::base
