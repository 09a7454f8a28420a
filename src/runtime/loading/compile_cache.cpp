#include "runtime/loading/compile_cache.h"

#include "alate/error.h"
#include "base/files/private_folder.h"
#include "base/os/environment.h"

namespace alate::runtime {

std::filesystem::path compile_cache() {
  try {
    const std::filesystem::path folder = base::cache_directory() / "compiled";
    return base::is_trusted(folder) ? folder : std::filesystem::path();
  } catch (const Error&) {
    return {};
  }
}

}  // namespace alate::runtime
