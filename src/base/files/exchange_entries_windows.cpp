#include <cerrno>

#include "base/files/exchange_entries.h"

namespace alate::base {

bool exchange_entries(const std::filesystem::path& /*a*/, const std::filesystem::path& /*b*/) noexcept {
  errno = ENOSYS;
  return false;
}

}  // namespace alate::base
