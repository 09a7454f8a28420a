#include <windows.h>

#include <algorithm>
#include <new>
#include <string>

#include "alate/error.h"
#include "base/files/contained_files.h"
#include "base/files/file_presence.h"
#include "base/files/mapped_file.h"
#include "base/files/stand_ins.h"
#include "base/os/windows_text.h"

namespace alate::base {
namespace {

constexpr std::align_val_t kAlignment{64};
constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;  // ReadFile and WriteFile use 32-bit counts

[[noreturn]] void fail(std::string_view action, const std::filesystem::path& path, DWORD error) {
  const bool absent = error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND || error == ERROR_INVALID_NAME;
  throw make_error(absent ? ErrorCode::not_found : ErrorCode::unavailable, "cannot ", action, " ", path.string(), ": ",
                   windows_message(error));
}

class Handle {
 public:
  explicit Handle(HANDLE value) : value_(value) {}
  ~Handle() {
    if (value_ != nullptr && value_ != INVALID_HANDLE_VALUE) ::CloseHandle(value_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  HANDLE value() const { return value_; }

 private:
  HANDLE value_;
};

struct Facts {
  std::size_t size = 0;
  std::int64_t modified_ns = 0;
};

// Windows times count units of 100 ns since 1601; the difference to 1970 is 11,644,473,600 seconds.
std::int64_t nanoseconds_of(FILETIME time) {
  constexpr std::int64_t kUnixEpoch = 116'444'736'000'000'000;
  const auto ticks = static_cast<std::int64_t>((std::uint64_t{time.dwHighDateTime} << 32) | time.dwLowDateTime);
  return (ticks - kUnixEpoch) * 100;
}

// Shares all access, so that the file can be replaced by rename, as this program does.
HANDLE open_to_read(const std::filesystem::path& path) {
  if (std::error_code error; std::filesystem::is_directory(path, error))
    throw make_error(ErrorCode::unavailable, path.string(), " is a folder; name a file in it");
  const HANDLE handle =
      ::CreateFileW(path.c_str(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                    OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr);
  if (handle == INVALID_HANDLE_VALUE) {
    const DWORD error = ::GetLastError();
    if (error == ERROR_ACCESS_DENIED) throw may_not_read(path);
    fail("open", path, error);
  }
  return handle;
}

Facts facts_of_regular_file(const Handle& file, const std::filesystem::path& path) {
  if (::GetFileType(file.value()) != FILE_TYPE_DISK)
    throw make_error(ErrorCode::unavailable, path.string(), " is not a regular file");
  BY_HANDLE_FILE_INFORMATION found{};
  if (::GetFileInformationByHandle(file.value(), &found) == 0) fail("read", path, ::GetLastError());
  return {(std::size_t{found.nFileSizeHigh} << 32) | found.nFileSizeLow, nanoseconds_of(found.ftLastWriteTime)};
}

void read_fully(const Handle& file, std::span<std::byte> out, const std::filesystem::path& path) {
  std::size_t done = 0;
  while (done < out.size()) {
    DWORD got = 0;
    const auto wanted = static_cast<DWORD>(std::min(out.size() - done, kMostAtOnce));
    if (::ReadFile(file.value(), out.data() + done, wanted, &got, nullptr) == 0) fail("read", path, ::GetLastError());
    if (got == 0) {
      throw make_error(ErrorCode::unavailable, path.string(),
                       " became shorter while it was read; replace files by rename");
    }
    done += got;
  }
}

}  // namespace

std::shared_ptr<const MappedFile> MappedFile::open(const std::filesystem::path& path, Mode mode,
                                                   const ContainedFiles* within) {
  if (within != nullptr) within->require_file(path);
  const Handle handle(open_to_read(path));
  const Facts facts = facts_of_regular_file(handle, path);
  std::shared_ptr<MappedFile> file(new MappedFile());  // make_shared cannot call the private constructor
  file->path_ = path;
  file->modified_ns_ = facts.modified_ns;
  if (facts.size == 0) return file;
  if (mode == Mode::map) {
    // The view keeps the mapping alive, and the mapping the file.
    const Handle mapping(::CreateFileMappingW(handle.value(), nullptr, PAGE_READONLY, 0, 0, nullptr));
    if (mapping.value() == nullptr) fail("map", path, ::GetLastError());
    const void* data = ::MapViewOfFile(mapping.value(), FILE_MAP_READ, 0, 0, facts.size);
    if (data == nullptr) fail("map", path, ::GetLastError());
    file->data_ = static_cast<const std::byte*>(data);
    file->size_ = facts.size;
    file->mapped_ = true;
    require_own_content(file->bytes(), path);
    return file;
  }
  auto* data = static_cast<std::byte*>(::operator new(facts.size, kAlignment, std::nothrow));
  if (data == nullptr) {
    throw make_error(ErrorCode::resource_exhausted, "no memory for the ", facts.size, " bytes of ", path.string());
  }
  file->data_ = data;
  file->size_ = facts.size;
  read_fully(handle, {data, facts.size}, path);
  require_own_content(file->bytes(), path);
  return file;
}

MappedFile::~MappedFile() {
  if (data_ == nullptr) return;
  auto* data = const_cast<std::byte*>(data_);
  if (mapped_) {
    ::UnmapViewOfFile(data);
  } else {
    ::operator delete(data, kAlignment);
  }
}

// Windows does not allow truncating a mapped file.
void MappedFile::require_unchanged() const {}

void MappedFile::release(std::span<const std::byte> part) const {
  if (!mapped_ || part.empty() || part.data() < data_ || part.data() + part.size() > data_ + size_) return;
  // Unlocking pages that are not locked removes them from the working set; the resulting error is ignored.
  (void)::VirtualUnlock(const_cast<std::byte*>(part.data()), part.size());
}

std::string read_text_file(const std::filesystem::path& path, std::size_t max_bytes, const ContainedFiles* within) {
  if (within != nullptr) within->require_file(path);
  const Handle file(open_to_read(path));
  const std::size_t size = facts_of_regular_file(file, path).size;
  if (size > max_bytes) {
    (void)MappedFile::open(path, MappedFile::Mode::map, within);  // says so where it is another kind of file
    throw make_error(ErrorCode::resource_exhausted, path.string(), " has ", size, " bytes; at most ", max_bytes,
                     " are read from a file of this kind");
  }
  std::string text(size, '\0');
  read_fully(file, std::as_writable_bytes(std::span(text)), path);
  require_own_content(std::as_bytes(std::span(text)), path);
  return text;
}

}  // namespace alate::base
