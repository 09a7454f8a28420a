// A terminal that a program writes to, and all that has been written.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

namespace alate::tests {

class Terminal {
 public:
  /// Throws std::runtime_error where there are none.
  Terminal() : master_(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    if (master_ < 0 || ::grantpt(master_) != 0 || ::unlockpt(master_) != 0)
      throw std::runtime_error("there are no pseudoterminals");
    name_ = ::ptsname(master_);
    slave_ = ::open(name_.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC);  // keeps what is written after the program's end
  }
  ~Terminal() {
    ::close(slave_);
    ::close(master_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  const std::string& name() const { return name_; }
  std::string written() const {
    std::string text;
    char some[4096];
    for (pollfd ready = {master_, POLLIN, 0}; ::poll(&ready, 1, 100) == 1;) {
      const ssize_t got = ::read(master_, some, sizeof some);
      if (got <= 0) break;
      text.append(some, static_cast<std::size_t>(got));
    }
    return text;
  }

 private:
  int master_, slave_ = -1;
  std::string name_;
};

}  // namespace alate::tests
