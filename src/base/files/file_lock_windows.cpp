#include "base/files/file_lock.h"

#include <windows.h>

#include "alate/error.h"

namespace alate::base {

FileLock::FileLock(const std::filesystem::path& path) {
  const HANDLE file = ::CreateFileW(path.c_str(), GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE,
                                    nullptr, OPEN_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr);
  if (file == INVALID_HANDLE_VALUE)
    throw make_error(::GetLastError() == ERROR_PATH_NOT_FOUND ? ErrorCode::not_found : ErrorCode::unavailable,
                     "cannot open ", path.string());
  OVERLAPPED whole{};
  if (::LockFileEx(file, LOCKFILE_EXCLUSIVE_LOCK, 0, MAXDWORD, MAXDWORD, &whole) == 0) {
    ::CloseHandle(file);
    throw make_error(ErrorCode::unavailable, "cannot lock ", path.string());
  }
  handle_ = reinterpret_cast<long long>(file);
}

FileLock::~FileLock() { ::CloseHandle(reinterpret_cast<HANDLE>(handle_)); }

}  // namespace alate::base
