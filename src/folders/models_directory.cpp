#include "folders/models_directory.h"

#include "base/os/environment.h"

namespace alate::folders {

std::filesystem::path models_directory(const std::filesystem::path& given) {
  if (!given.empty()) return given;
  if (const auto named = base::environment("ALATE_MODELS_DIR")) return *named;
  return base::cache_directory() / "models";
}

}  // namespace alate::folders
