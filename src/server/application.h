// The whole server: what `alate serve` runs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "server/settings/settings.h"

namespace alate::server {

class ShutdownWatchdog;

class Application {
 public:
  /// Binds the listeners; nothing is answered before `run`. `version` is the program's. Throws invalid_argument,
  /// not_found, corrupt or unavailable naming the setting that cannot be had.
  Application(const Settings& settings, std::string version);
  ~Application();
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;

  /// "http://127.0.0.1:11433", "unix:/run/alate.sock" …
  std::vector<std::string> endpoints() const;

  /// From now on SIGTERM and SIGINT stop the server, a second one at once, and SIGHUP reads the certificate anew. From
  /// the first on, until this object is destroyed, the process is ended when something hangs longer than
  /// settings.shutdown_timeout and a few seconds; from the second on, longer than one. Once a process.
  void handle_signals();

  /// Serves until it is stopped; then finishes what it has taken, for at most settings.shutdown_timeout.
  void run();
  /// From any thread.
  void stop();

 private:
  struct State;
  std::unique_ptr<ShutdownWatchdog> watchdog_;  // outlives the state, whose end may hang
  std::unique_ptr<State> state_;
};

}  // namespace alate::server
