#include "base/files/private_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "alate/error.h"

namespace alate::base {
namespace {

std::string octal(mode_t mode) {
  char text[16];
  std::snprintf(text, sizeof text, "%04o", static_cast<unsigned>(mode & 07777));
  return text;
}

[[noreturn]] void fail(std::string_view what, const std::filesystem::path& path) {
  throw make_error(ErrorCode::unavailable, "cannot ", what, " ", path.string(), ": ",
                   std::generic_category().message(errno));
}

}  // namespace

std::string reason_to_distrust(const std::filesystem::path& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return {};
  const uid_t user = ::geteuid();
  if (facts.st_uid != user && facts.st_uid != 0)
    return "it belongs to user " + std::to_string(facts.st_uid) + ", and this program runs as user " +
           std::to_string(user) + ": delete it, or name another cache folder with ALATE_HOME";
  if ((facts.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return "users besides its owner may write to it (mode " + octal(facts.st_mode) +
           "): delete it, for they may have written what it holds; if you know that they have not, chmod go-w";
  return {};
}

void create_owner_writable_folder(const std::filesystem::path& folder, Readers readers) {
  std::error_code ignored;
  if (folder.empty() || std::filesystem::is_directory(folder, ignored)) return;
  create_owner_writable_folder(folder.parent_path(), readers);
  if (::mkdir(folder.c_str(), readers == Readers::owner ? 0700 : 0755) == 0) return;
  if (errno == EEXIST && std::filesystem::is_directory(folder, ignored)) return;
  fail("make the folder", folder);
}

void restrict_to_owner(const std::filesystem::path& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) fail("read the permissions of", path);
  const mode_t wanted = S_ISDIR(facts.st_mode) ? 0700 : 0600;
  if ((facts.st_mode & 07777) != wanted && ::chmod(path.c_str(), wanted) != 0) fail("change the permissions of", path);
}

}  // namespace alate::base
