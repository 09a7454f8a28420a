#include <windows.h>

#include <cstring>
#include <fstream>
#include <string>

#include "alate/error.h"
#include "base/libraries/shared_library.h"
#include "base/os/usage_reports.h"
#include "base/os/windows_text.h"

namespace alate::base {
namespace {

std::string machine_name(WORD machine) {
  switch (machine) {
    case IMAGE_FILE_MACHINE_AMD64: return "x86-64";
    case IMAGE_FILE_MACHINE_I386: return "32-bit x86";
    case IMAGE_FILE_MACHINE_ARM64: return "AArch64";
    case IMAGE_FILE_MACHINE_ARMNT: return "32-bit ARM";
    default: return "machine " + std::to_string(machine);
  }
}

template <typename Header>
bool read_at(std::ifstream& file, std::uint64_t offset, Header& header) {
  file.seekg(static_cast<std::streamoff>(offset));
  return static_cast<bool>(file.read(reinterpret_cast<char*>(&header), sizeof header));
}

// Microsoft's PE format: the DOS header gives the offset of the PE header, which is followed by the sections. The
// loader's own message for any of these problems is that the file is "not a valid Win32 application".
std::string problem_of(const std::filesystem::path& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) return "it cannot be read: " + error.message();
  std::ifstream file(path, std::ios::binary);
  IMAGE_DOS_HEADER dos{};
  if (!read_at(file, 0, dos) || dos.e_magic != IMAGE_DOS_SIGNATURE || dos.e_lfanew < 0) return "it is not a library";
  const auto at = static_cast<std::uint64_t>(dos.e_lfanew);
  DWORD signature = 0;
  IMAGE_FILE_HEADER header{};
  if (!read_at(file, at, signature)) return "it is cut off";
  if (signature != IMAGE_NT_SIGNATURE) return "it is not a library";
  if (!read_at(file, at + sizeof signature, header)) return "it is cut off";
  if (header.Machine != IMAGE_FILE_MACHINE_AMD64)
    return "it is for " + machine_name(header.Machine) + ", and this program is for " +
           machine_name(IMAGE_FILE_MACHINE_AMD64);
  if ((header.Characteristics & IMAGE_FILE_DLL) == 0) return "it is not a shared library";
  const std::uint64_t sections = at + sizeof signature + sizeof header + header.SizeOfOptionalHeader;
  for (WORD i = 0; i < header.NumberOfSections; ++i) {
    IMAGE_SECTION_HEADER section{};
    if (!read_at(file, sections + i * sizeof section, section)) return "it is cut off";
    if (std::uint64_t{section.PointerToRawData} + section.SizeOfRawData > size)
      return "it is cut off: it has " + std::to_string(size) + " bytes, and its header says more";
  }
  return {};
}

// A library may have dependencies beside it; the loader searches its folder only if the path is absolute.
HMODULE load(const std::filesystem::path& path) {
  if (!path.has_parent_path()) return ::LoadLibraryExW(path.c_str(), nullptr, LOAD_LIBRARY_SEARCH_DEFAULT_DIRS);
  std::error_code error;
  std::filesystem::path absolute = std::filesystem::absolute(path, error);
  if (error) absolute = path;
  return ::LoadLibraryExW(absolute.make_preferred().c_str(), nullptr,
                          LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_DEFAULT_DIRS);
}

}  // namespace

SharedLibrary SharedLibrary::open(const std::filesystem::path& path) {
  // The loader looks up a bare name.
  if (const std::string problem = path.has_parent_path() ? problem_of(path) : ""; !problem.empty())
    throw make_error(ErrorCode::unavailable, path.string(), " cannot be opened: ", problem);
  disable_telemetry();
  const HMODULE handle = load(path);
  if (handle == nullptr)
    throw make_error(ErrorCode::unavailable, path.string(), " cannot be opened: ", windows_message(::GetLastError()));
  return SharedLibrary(handle);
}

void* SharedLibrary::symbol(const char* name) const {
  return reinterpret_cast<void*>(::GetProcAddress(static_cast<HMODULE>(handle_), name));
}

}  // namespace alate::base
