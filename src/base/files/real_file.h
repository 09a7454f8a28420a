// The file that a path leads to after following all links.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace alate::base {

struct RealFile {
  std::filesystem::path path;  // absolute, without links
  bool is_regular = false;     // not a folder, named pipe or device
};

/// Resolves a path; nothing if it does not exist or cannot be reached. Never opens for reading, which devices and pipes
/// would notice.
std::optional<RealFile> find_real_file(const std::filesystem::path& path);

/// Its path as text, or the given one where there is no such file: what tells files from each other.
inline std::string real_path_text(const std::filesystem::path& path) {
  const std::optional<RealFile> found = find_real_file(path);
  return (found ? found->path : path).string();
}

/// Resolves an open file, whatever its name refers to by now; nothing if the system does not say. Linux only.
std::optional<RealFile> real_file_of(int descriptor);

}  // namespace alate::base
