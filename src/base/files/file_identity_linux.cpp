#include <sys/stat.h>

#include <cerrno>
#include <system_error>

#include "alate/error.h"
#include "base/files/file_identity.h"

namespace alate::base {
namespace {

std::int64_t nanoseconds(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

FileIdentity file_identity(const std::filesystem::path& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0)
    throw make_error(errno == ENOENT || errno == ENOTDIR ? ErrorCode::not_found : ErrorCode::unavailable,
                     "cannot read ", path.string(), ": ", std::generic_category().message(errno));
  if (!S_ISREG(facts.st_mode)) throw make_error(ErrorCode::unavailable, path.string(), " is not a regular file");
  return {.device = facts.st_dev,
          .file = facts.st_ino,
          .bytes = static_cast<std::uint64_t>(facts.st_size),
          .modified_ns = nanoseconds(facts.st_mtim),
          .changed_ns = nanoseconds(facts.st_ctim)};
}

}  // namespace alate::base
