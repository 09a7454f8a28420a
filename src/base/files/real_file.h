// Where a path really leads once all links on the way are followed.
#pragma once

#include <filesystem>
#include <optional>

namespace alate::base {

struct RealFile {
  std::filesystem::path path;  // absolute, without links
  bool is_regular = false;     // no folder, named pipe or device
};

/// What a path leads to; nothing where nothing is there or it cannot be reached. Opens nothing for reading, so that
/// devices and pipes do not notice.
std::optional<RealFile> find_real_file(const std::filesystem::path& path);

/// Of a file that is open, whatever its name stands for by now; nothing where the system does not say. Linux only.
std::optional<RealFile> real_file_of(int descriptor);

}  // namespace alate::base
