#include <exception>
#include <system_error>

#include "base/files/unfinished_entries.h"

namespace alate::base {

// Windows runs handlers of console events in a thread of their own, where anything may be called.
void remove_entry(const std::filesystem::path::value_type* name) noexcept {
  try {
    std::error_code ignored;
    std::filesystem::remove_all(name, ignored);
  } catch (const std::exception&) {
    // Left behind for the next run.
  }
}

}  // namespace alate::base
