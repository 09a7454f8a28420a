#include "hub/install/wheel.h"

#include <algorithm>
#include <vector>

#include "alate/error.h"
#include "base/files/atomic_file.h"
#include "formats/zip_reader.h"

namespace alate::hub {
namespace {

constexpr unsigned kMode = 0644;  // regardless of the umask: other users must not be able to change executed files

std::string_view name_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }
std::string_view folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

bool is_shared_library(std::string_view name) {
  return name.ends_with(".so") || name.find(".so.") != std::string_view::npos || name.ends_with(".dll") ||
         name.ends_with(".dylib");
}

bool is_licence(std::string_view name) {
  return name.starts_with("LICENSE") || name.starts_with("NOTICE") ||
         name.find("THIRD_PARTY") != std::string_view::npos || name.starts_with("ThirdParty");
}

bool is_library_in_wheel(const RuntimePackage& package, std::string_view path) {
  return folder_of(path) == folder_of(package.library) && is_library_of(package, name_of(path));
}

bool is_wanted(const RuntimePackage& package, std::string_view path) {
  if (is_library_in_wheel(package, path) || is_licence(name_of(path))) return true;
  return package.whole_folder && folder_of(path) == folder_of(package.library) && is_shared_library(name_of(path));
}

}  // namespace

bool is_library_of(const RuntimePackage& package, std::string_view file) {
  const std::string_view library = name_of(package.library);
  return file == library || (file.starts_with(library) && file[library.size()] == '.');
}

std::optional<std::string> wheel_version(std::string_view file) {
  const std::size_t first = file.find('-');
  if (first == std::string_view::npos || !file.ends_with(".whl")) return std::nullopt;
  const std::size_t second = file.find('-', first + 1);
  if (second == std::string_view::npos || second == first + 1) return std::nullopt;
  const std::string version(file.substr(first + 1, second - first - 1));
  const bool is_plain = std::ranges::all_of(version, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '.' || c == '+' || c == '_';
  });
  return is_plain && version[0] >= '0' && version[0] <= '9' ? std::optional(version) : std::nullopt;
}

std::string unpack_runtime(const RuntimePackage& package, std::span<const std::byte> wheel,
                           const std::filesystem::path& folder) {
  std::string library;
  for (const formats::ZipEntry& entry : formats::list_zip(wheel, package.file)) {
    const std::string name(name_of(entry.name));
    if (name.empty() || name == "." || name == ".." || name.find('\\') != std::string::npos ||
        !is_wanted(package, entry.name))
      continue;
    if (is_library_in_wheel(package, entry.name) && (library.empty() || name < library)) library = name;
    std::vector<std::byte> content(entry.byte_count);
    formats::extract_zip_entry(wheel, entry, content, package.file);
    base::write_file_atomically(folder / name, content, kMode);
  }
  if (library.empty())
    throw make_error(ErrorCode::corrupt, "the package of ", package.name, " has no ", package.library);
  return library;
}

}  // namespace alate::hub
