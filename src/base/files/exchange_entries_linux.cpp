#include <fcntl.h>
#include <stdio.h>

#include "base/files/exchange_entries.h"

namespace alate::base {

bool exchange_entries(const std::filesystem::path& a, const std::filesystem::path& b) noexcept {
  return ::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0;
}

}  // namespace alate::base
