// A server of our own for a test, in a process of its own.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace alate::load {

/// Memory of a process that no other one shares, in bytes.
std::size_t private_bytes(pid_t process);

/// Starts `program serve --port 0 …` and waits until it says where it listens. Stops it when destroyed.
class ServerProcess {
 public:
  /// Throws std::runtime_error when it ends before it listens.
  ServerProcess(const std::string& program, const std::vector<std::string>& arguments);
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  std::uint16_t port() const { return port_; }
  std::size_t private_bytes() const { return load::private_bytes(process_); }
  /// The most memory that it ever had, in bytes.
  std::size_t peak_bytes() const;
  /// SIGTERM; the exit code, or minus the signal that ended it.
  int stop();

 private:
  pid_t process_ = -1;
  std::uint16_t port_ = 0;
};

}  // namespace alate::load
