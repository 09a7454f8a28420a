#include "runtime/compile_cache.h"

#include "alate/error.h"
#include "base/environment.h"

namespace alate::runtime {

std::filesystem::path compile_cache() {
  try {
    return base::cache_directory() / "compiled";
  } catch (const Error&) {
    return {};
  }
}

}  // namespace alate::runtime
