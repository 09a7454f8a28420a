// Permissions that hold for root too: root may read every file.
#pragma once

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

namespace alate::base {

/// While it lives, this thread reads only what the permissions of files allow. Other threads keep their privileges.
class WithoutPrivilege {
 public:
  WithoutPrivilege() : works_(get(before_)) {
    Sets without = before_;
    without.words[0].effective &= ~((std::uint32_t{1} << CAP_DAC_OVERRIDE) | (std::uint32_t{1} << CAP_DAC_READ_SEARCH));
    works_ = works_ && set(without);
  }
  ~WithoutPrivilege() {
    if (works_ && !set(before_)) std::abort();
  }
  WithoutPrivilege(const WithoutPrivilege&) = delete;
  WithoutPrivilege& operator=(const WithoutPrivilege&) = delete;

  /// False where the system refuses.
  bool works() const { return works_; }

 private:
  struct Sets {
    __user_cap_data_struct words[_LINUX_CAPABILITY_U32S_3] = {};
  };

  static bool get(Sets& sets) {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    return ::syscall(SYS_capget, &header, sets.words) == 0;
  }
  static bool set(const Sets& sets) {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    return ::syscall(SYS_capset, &header, sets.words) == 0;
  }

  Sets before_;
  bool works_;
};

}  // namespace alate::base
