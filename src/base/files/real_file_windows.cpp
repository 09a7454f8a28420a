#include <system_error>

#include "base/files/real_file.h"

namespace alate::base {

namespace fs = std::filesystem;

std::optional<RealFile> find_real_file(const fs::path& path) {
  std::error_code missing;
  fs::path real = fs::canonical(path, missing);
  if (missing) return std::nullopt;
  const bool is_regular = fs::is_regular_file(real, missing);
  return RealFile{std::move(real), is_regular};
}

}  // namespace alate::base
