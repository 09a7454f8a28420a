// Discovery of this machine's backends: each library is probed in a process of its own, and the result is cached.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "machine/machine.h"
#include "machine/selection.h"

namespace alate::machine {

struct DiscoveryOptions {
  /// Which backends with foreign libraries are probed; the others are listed without devices. Empty: all.
  std::function<bool(const BackendState&)> wants = {};
  bool anew = false;  // ignore cached probes
};

/// The backends of the registry with their devices and current memory figures. This process opens a library only when
/// something is compiled for it: discovery opens it in a separate process, caches the findings on disk, and makes the
/// backend use the first library that passes. Thread-safe.
Machine discover(const DiscoveryOptions& options = {});

/// The same, but probes only backends that these preferences and this model may lead to.
Machine discover_for(const Preferences& preferences, const ModelNeeds& model = {});

/// Names of the backends that can be used here, in the registry's order. Probes all.
std::vector<std::string> list_available();

/// The backend that runs a model when nothing else is asked for: the first of `priority` that is
/// available, else the first one in the automatic order.
std::string default_backend(const std::vector<BackendPlace>& priority = {});

/// Sets the order for loads that ask for nothing; empty: automatic. Applies to the whole process. Throws
/// invalid_argument for a name that no backend has.
void set_priority(std::vector<BackendPlace> priority);
/// Throws invalid_argument for a name that no backend has.
void check_names(const std::vector<BackendPlace>& places);
std::vector<BackendPlace> priority();

/// Logs at level info which backends are available, and which one is the default. Throws as `select` where no
/// backend can run any model.
void log_backends(const Machine& machine, const Preferences& preferences);

}  // namespace alate::machine
