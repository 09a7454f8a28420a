#include <windows.h>

#include <memory>
#include <type_traits>

#include "alate/error.h"
#include "base/files/file_identity.h"
#include "base/os/windows_text.h"

namespace alate::base {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, DWORD error) {
  const bool absent = error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND || error == ERROR_INVALID_NAME;
  throw make_error(absent ? ErrorCode::not_found : ErrorCode::unavailable, "cannot read ", path.string(), ": ",
                   windows_message(error));
}

// Windows times count units of 100 ns since 1601; the difference to 1970 is 11,644,473,600 seconds.
std::int64_t nanoseconds(const LARGE_INTEGER& time) {
  constexpr std::int64_t kUnixEpoch = 116'444'736'000'000'000;
  return (time.QuadPart - kUnixEpoch) * 100;
}

}  // namespace

FileIdentity file_identity(const std::filesystem::path& path) {
  const HANDLE handle =
      ::CreateFileW(path.c_str(), FILE_READ_ATTRIBUTES, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                    OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr);
  if (handle == INVALID_HANDLE_VALUE) fail(path, ::GetLastError());
  const std::unique_ptr<std::remove_pointer_t<HANDLE>, decltype(&::CloseHandle)> owned(handle, &::CloseHandle);
  BY_HANDLE_FILE_INFORMATION found{};
  FILE_BASIC_INFO times{};
  if (::GetFileInformationByHandle(handle, &found) == 0 ||
      ::GetFileInformationByHandleEx(handle, FileBasicInfo, &times, sizeof times) == 0)
    fail(path, ::GetLastError());
  if ((found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0 || ::GetFileType(handle) != FILE_TYPE_DISK)
    throw make_error(ErrorCode::unavailable, path.string(), " is not a regular file");
  return {.device = found.dwVolumeSerialNumber,
          .file = std::uint64_t{found.nFileIndexHigh} << 32 | found.nFileIndexLow,
          .bytes = std::uint64_t{found.nFileSizeHigh} << 32 | found.nFileSizeLow,
          .modified_ns = nanoseconds(times.LastWriteTime),
          .changed_ns = nanoseconds(times.ChangeTime)};
}

}  // namespace alate::base
