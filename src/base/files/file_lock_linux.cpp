#include "base/files/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "alate/error.h"

namespace alate::base {

FileLock::FileLock(const std::filesystem::path& path) {
  const int number = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (number < 0)
    throw make_error(errno == ENOENT ? ErrorCode::not_found : ErrorCode::unavailable, "cannot open ", path.string(),
                     ": ", std::generic_category().message(errno));
  while (::flock(number, LOCK_EX) != 0) {
    if (errno == EINTR) continue;
    const int problem = errno;
    ::close(number);
    throw make_error(ErrorCode::unavailable, "cannot lock ", path.string(), ": ",
                     std::generic_category().message(problem));
  }
  handle_ = number;
}

FileLock::~FileLock() { ::close(static_cast<int>(handle_)); }

}  // namespace alate::base
