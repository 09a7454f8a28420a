#include "base/files/file_lock.h"

#include <windows.h>

#include "alate/error.h"

namespace alate::base {

FileLock::FileLock(const std::filesystem::path& path) : FileLock(path, Wait::yes) {}

FileLock::FileLock(const std::filesystem::path& path, Wait wait) {
  const HANDLE file = ::CreateFileW(path.c_str(), GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE,
                                    nullptr, OPEN_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr);
  if (file == INVALID_HANDLE_VALUE)
    throw make_error(::GetLastError() == ERROR_PATH_NOT_FOUND ? ErrorCode::not_found : ErrorCode::unavailable,
                     "cannot open ", path.string());
  OVERLAPPED whole{};
  const DWORD flags = LOCKFILE_EXCLUSIVE_LOCK | (wait == Wait::yes ? 0 : LOCKFILE_FAIL_IMMEDIATELY);
  if (::LockFileEx(file, flags, 0, MAXDWORD, MAXDWORD, &whole) == 0) {
    const bool is_held = ::GetLastError() == ERROR_LOCK_VIOLATION;
    ::CloseHandle(file);
    if (is_held) return;
    throw make_error(ErrorCode::unavailable, "cannot lock ", path.string());
  }
  handle_ = reinterpret_cast<long long>(file);
}

std::unique_ptr<FileLock> FileLock::try_lock(const std::filesystem::path& path) {
  std::unique_ptr<FileLock> lock(new FileLock(path, Wait::no));
  if (lock->handle_ == -1) lock.reset();
  return lock;
}

FileLock::~FileLock() {
  if (handle_ != -1) ::CloseHandle(reinterpret_cast<HANDLE>(handle_));
}

}  // namespace alate::base
