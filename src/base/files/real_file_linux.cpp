#include "base/files/real_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <string>
#include <string_view>
#include <system_error>

namespace alate::base {
namespace {

namespace fs = std::filesystem;

// Fallback without /proc, or for a path too long for it.
std::optional<RealFile> find_by_name(const fs::path& path) {
  std::error_code missing;
  fs::path real = fs::canonical(path, missing);
  if (missing) return std::nullopt;
  const bool is_regular = fs::is_regular_file(real, missing);
  return RealFile{std::move(real), is_regular};
}

}  // namespace

std::optional<RealFile> real_file_of(int descriptor) {
  struct stat facts {};
  if (::fstat(descriptor, &facts) != 0) return std::nullopt;
  std::array<char, PATH_MAX> text;
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t length = ::readlink(link.c_str(), text.data(), text.size());
  // A link target that fills the buffer may be truncated.
  if (length <= 0 || static_cast<std::size_t>(length) == text.size()) return std::nullopt;
  return RealFile{std::string_view(text.data(), static_cast<std::size_t>(length)), S_ISREG(facts.st_mode)};
}

std::optional<RealFile> find_real_file(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_PATH | O_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  std::optional<RealFile> found = real_file_of(descriptor);
  ::close(descriptor);
  return found ? found : find_by_name(path);
}

}  // namespace alate::base
