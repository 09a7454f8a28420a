// Another user's permissions in this process: root may read everything.
#pragma once

#include <unistd.h>

#include <cstdlib>

namespace alate::base {

/// While it lives, a process of root has the permissions of nobody; another process keeps its own.
class AsOrdinaryUser {
 public:
  AsOrdinaryUser() : was_root_(::geteuid() == 0), works_(!was_root_ || ::seteuid(kNobody) == 0) {}
  ~AsOrdinaryUser() {
    if (was_root_ && ::seteuid(0) != 0) std::abort();
  }
  AsOrdinaryUser(const AsOrdinaryUser&) = delete;
  AsOrdinaryUser& operator=(const AsOrdinaryUser&) = delete;

  /// False where the system does not let root give up its permissions.
  bool works() const { return works_; }

 private:
  static constexpr unsigned kNobody = 65534;

  bool was_root_, works_;
};

}  // namespace alate::base
