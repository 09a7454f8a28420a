// The whole server, as run by `alate serve`.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "server/settings/settings.h"

namespace alate::server {

class ShutdownWatchdog;

class Application {
 public:
  /// Binds the listeners; no request is answered before `run`. `version` is the program's. Throws invalid_argument,
  /// not_found, corrupt or unavailable; the message names the setting at fault.
  Application(const Settings& settings, std::string version);
  ~Application();
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;

  /// "http://127.0.0.1:11433", "unix:/run/alate.sock" …
  std::vector<std::string> endpoints() const;

  /// Installs signal handlers: SIGTERM and SIGINT stop the server (a second one stops it at once), SIGHUP reloads the
  /// certificate. After the first stop signal, until this object is destroyed, the process is terminated if something
  /// hangs for more than a few seconds beyond settings.shutdown_timeout; after the second, for more than one second.
  /// Call once per process.
  void handle_signals();

  /// Serves until stopped, then finishes the requests already accepted, for at most settings.shutdown_timeout. Throws
  /// where a model of the hub that the settings name could not be fetched or loaded at the start.
  void run();
  /// From any thread.
  void stop();

 private:
  struct State;
  std::unique_ptr<ShutdownWatchdog> watchdog_;  // outlives the state, whose destructor may hang
  std::unique_ptr<State> state_;
};

}  // namespace alate::server
