#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/files/unfinished_entries.h"

namespace alate::base {
namespace {

constexpr int kDeepestFolder = 64;
constexpr int kMostRounds = 16;
constexpr std::size_t kListingBytes = 2048;  // on the stack, at each depth

bool remove_at(int parent, const char* name, int depth) noexcept;

// Whether anything was removed. The standard functions for folders allocate, which a signal handler may not.
bool empty_once(int folder, int depth) noexcept {
  alignas(struct dirent64) char listing[kListingBytes];
  bool removed = false;
  ::lseek(folder, 0, SEEK_SET);
  for (;;) {
    const ssize_t got = ::getdents64(folder, listing, sizeof listing);
    if (got <= 0) return removed;
    for (ssize_t at = 0; at < got;) {
      const auto* entry = reinterpret_cast<const struct dirent64*>(listing + at);
      at += entry->d_reclen;
      const char* name = entry->d_name;
      const bool is_self_or_parent = name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
      if (!is_self_or_parent && remove_at(folder, name, depth)) removed = true;
    }
  }
}

bool remove_at(int parent, const char* name, int depth) noexcept {
  if (::unlinkat(parent, name, 0) == 0) return true;
  if ((errno != EISDIR && errno != EPERM) || depth == kDeepestFolder) return false;
  const int folder = ::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return false;
  // Removing entries may hide others from a listing, and other threads may still add some.
  for (int round = 0; round < kMostRounds && empty_once(folder, depth + 1); ++round) continue;
  ::close(folder);
  return ::unlinkat(parent, name, AT_REMOVEDIR) == 0;
}

}  // namespace

void remove_entry(const std::filesystem::path::value_type* name) noexcept { (void)remove_at(AT_FDCWD, name, 0); }

}  // namespace alate::base
