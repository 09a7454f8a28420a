#include "base/os/program_path.h"

namespace alate::base {

std::filesystem::path program_path() {
  std::error_code error;
  std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::filesystem::path() : path;
}

}  // namespace alate::base
