// What backends this machine has: looked for, tried in a process of its own, and remembered.
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
  bool anew = false;  // forget what earlier probes found
};

/// The backends of the registry with their devices and the memory of now. A library is opened by this process only when
/// something is compiled for it: discovery opens it in a process of its own, keeps what it found on disk, and makes the
/// first library that passes the one that the backend uses. Thread-safe.
Machine discover(const DiscoveryOptions& options = {});

/// Only what these preferences and this model may come to.
Machine discover_for(const Preferences& preferences, const ModelNeeds& model = {});

/// Names of the backends that can be used here, in the registry's order. Probes all.
std::vector<std::string> list_available();

/// The backend that runs a model when nothing else is asked for: the first of `priority` (NAME[:DEVICE]) that is
/// available, else of the automatic order.
std::string default_backend(const std::vector<std::string>& priority = {});

/// The order for loads that ask for nothing; empty: automatic. For the whole process. Throws invalid_argument for a
/// name that no backend has.
void set_priority(std::vector<std::string> priority);
/// Throws invalid_argument for a name (NAME or NAME:DEVICE) that no backend has.
void check_names(const std::vector<std::string>& names);
std::vector<std::string> priority();

/// Says at level info what there is: "Available backends: […]", "Default backend: …". Throws as `select` where nothing
/// can run any model.
void log_backends(const Machine& machine, const Preferences& preferences);

}  // namespace alate::machine
