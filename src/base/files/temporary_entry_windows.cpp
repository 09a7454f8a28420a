#include <windows.h>

#include <fcntl.h>
#include <io.h>

#include <cerrno>
#include <utility>

#include "base/files/descriptor_io.h"
#include "base/files/temporary_entry_system.h"

namespace alate::base {
namespace {

bool fail_with(DWORD error) {
  switch (error) {
    case ERROR_FILE_EXISTS:
    case ERROR_ALREADY_EXISTS: errno = EEXIST; break;
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_NAME: errno = ENOENT; break;
    case ERROR_ACCESS_DENIED:
    case ERROR_SHARING_VIOLATION:
    case ERROR_WRITE_PROTECT: errno = EACCES; break;
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL: errno = ENOSPC; break;
    default: errno = EIO;
  }
  return false;
}

bool is_running(std::uint64_t process) {
  const HANDLE handle = ::OpenProcess(SYNCHRONIZE, FALSE, static_cast<DWORD>(process));
  if (handle == nullptr) return ::GetLastError() != ERROR_INVALID_PARAMETER;
  const bool runs = ::WaitForSingleObject(handle, 0) == WAIT_TIMEOUT;
  ::CloseHandle(handle);
  return runs;
}

}  // namespace

std::uint64_t own_process_number() { return ::GetCurrentProcessId(); }

// There is no lock: the number of a running process protects its entries. Deleting is shared, so that a handler of
// console events can remove the file while it is open.
bool create_temporary(const std::filesystem::path& path, EntryKind kind, unsigned /*mode*/, int& descriptor) {
  descriptor = -1;
  if (kind == EntryKind::folder) return ::CreateDirectoryW(path.c_str(), nullptr) != 0 || fail_with(::GetLastError());
  const HANDLE handle = ::CreateFileW(path.c_str(), GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_DELETE, nullptr,
                                      CREATE_NEW, FILE_ATTRIBUTE_NORMAL, nullptr);
  if (handle == INVALID_HANDLE_VALUE) return fail_with(::GetLastError());
  descriptor = ::_open_osfhandle(reinterpret_cast<intptr_t>(handle), _O_BINARY | _O_NOINHERIT);
  if (descriptor >= 0) return true;
  ::CloseHandle(handle);
  ::DeleteFileW(path.c_str());
  errno = EMFILE;
  return false;
}

// An open file cannot be renamed everywhere.
bool rename_temporary(const std::filesystem::path& from, const std::filesystem::path& to, int& descriptor) {
  if (descriptor >= 0 && !close_descriptor(std::exchange(descriptor, -1))) return false;
  return ::MoveFileExW(from.c_str(), to.c_str(), MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH) != 0 ||
         fail_with(::GetLastError());
}

void remove_if_abandoned(const std::filesystem::path& path, EntryKind kind, std::uint64_t process) {
  std::error_code error;
  const auto type = std::filesystem::symlink_status(path, error).type();
  const bool has_kind = kind == EntryKind::folder ? type == std::filesystem::file_type::directory
                                                  : type == std::filesystem::file_type::regular;
  if (has_kind && !is_running(process)) remove_entry(path.c_str());
}

}  // namespace alate::base
