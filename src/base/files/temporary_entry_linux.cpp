#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <limits>

#include "base/files/temporary_entry_system.h"

namespace alate::base {
namespace {

int open_entry(const std::filesystem::path& path, EntryKind kind) {
  const int flags = kind == EntryKind::folder ? O_RDONLY | O_DIRECTORY : O_WRONLY | O_NONBLOCK;
  return ::open(path.c_str(), flags | O_NOFOLLOW | O_CLOEXEC);
}

// Whether the entry is locked now, or its file system knows no locks; false if another process is removing it.
bool lock_new_entry(int descriptor) {
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) return errno != EWOULDBLOCK;
  struct stat facts {};
  return ::fstat(descriptor, &facts) == 0 && facts.st_nlink > 0;
}

bool is_running(std::uint64_t process) {
  if (process == 0 || process > static_cast<std::uint64_t>(std::numeric_limits<pid_t>::max())) return false;
  // In containers the killed process often had the number that this one has now; the lock tells them apart.
  if (process == own_process_number()) return false;
  return ::kill(static_cast<pid_t>(process), 0) == 0 || errno != ESRCH;
}

bool is_same_entry(const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

bool is_own_entry(const struct stat& facts, EntryKind kind) {
  const bool has_kind = kind == EntryKind::folder ? S_ISDIR(facts.st_mode) : S_ISREG(facts.st_mode);
  return has_kind && facts.st_uid == ::geteuid();
}

}  // namespace

std::uint64_t own_process_number() { return static_cast<std::uint64_t>(::getpid()); }

bool create_temporary(const std::filesystem::path& path, EntryKind kind, unsigned mode, int& descriptor) {
  if (kind == EntryKind::folder) {
    if (::mkdir(path.c_str(), mode) != 0) return false;
    descriptor = open_entry(path, kind);
  } else {
    descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor < 0) return false;
  }
  if (descriptor >= 0 && lock_new_entry(descriptor)) return true;
  const int error = descriptor < 0 ? errno : EEXIST;
  ::unlinkat(AT_FDCWD, path.c_str(), kind == EntryKind::folder ? AT_REMOVEDIR : 0);
  if (descriptor >= 0) ::close(descriptor);
  descriptor = -1;
  errno = error;
  return false;
}

bool rename_temporary(const std::filesystem::path& from, const std::filesystem::path& to, int&) {
  return ::rename(from.c_str(), to.c_str()) == 0;
}

void remove_if_abandoned(const std::filesystem::path& path, EntryKind kind, std::uint64_t process) {
  struct stat named {};
  if (is_running(process) || ::lstat(path.c_str(), &named) != 0 || !is_own_entry(named, kind)) return;
  const int descriptor = open_entry(path, kind);
  if (descriptor < 0) return;
  struct stat opened {};
  // Once the lock is held, the name must still belong to what was locked.
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0 && ::fstat(descriptor, &opened) == 0 &&
      ::lstat(path.c_str(), &named) == 0 && is_own_entry(named, kind) && is_same_entry(named, opened))
    remove_entry(path.c_str());
  ::close(descriptor);
}

}  // namespace alate::base
