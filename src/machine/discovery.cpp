#include "machine/discovery.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "alate/error.h"
#include "backends/host_buffers.h"
#include "backends/registry.h"
#include "base/hardware/accelerator_hints.h"
#include "base/log.h"
#include "base/threads/mutex.h"
#include "machine/probe.h"

namespace alate::machine {
namespace {

using backends::Device;
using backends::DeviceKind;

// Results of discovery for each backend, kept as long as the process lives.
struct Known {
  base::Mutex mutex;
  std::map<std::string, BackendState, std::less<>> states;
  std::vector<BackendPlace> priority;
};

Known& known() {
  static Known all;
  return all;
}

void settle(BackendState& state, Probe probe) {
  state.devices = std::move(probe.devices);
  state.reason = std::move(probe.reason);
  state.remedy = std::move(probe.remedy);
}

// Takes the first library that passes, else records why each does not.
void probe_libraries(backends::Backend& backend, const backends::LibrarySearch& search, bool anew,
                     BackendState& state) {
  std::string reasons, remedy;
  for (const std::filesystem::path& library : search.found) {
    std::optional<Probe> probe = anew ? std::nullopt : cached_probe(backend, library);
    if (!probe) {
      probe = probe_in_subprocess(backend, library);
      cache_probe(backend, library, *probe);
    }
    if (probe->reason.empty()) {
      backend.use_library(library);
      return settle(state, std::move(*probe));
    }
    reasons += (reasons.empty() ? "" : "; ") + probe->reason;
    if (remedy.empty()) remedy = probe->remedy;
    if (state.devices.empty()) state.devices = std::move(probe->devices);
  }
  state.reason = std::move(reasons);
  state.remedy = std::move(remedy);
}

BackendState plain_state(const backends::Registration& row) {
  BackendState state;
  state.name = row.name;
  state.aliases.assign(row.aliases.begin(), row.aliases.end());
  state.sentence = row.sentence;
  state.is_automatic = state.name != "reference";
  return state;
}

BackendState probed_state(const backends::Registration& row, bool anew) {
  BackendState state = plain_state(row);
  try {
    backends::Backend& backend = row.get();
    for (const std::string_view extension : backend.reads_files()) state.reads_files.emplace_back(extension);
    const backends::LibrarySearch search = backend.libraries();
    if (!search.found.empty()) {
      probe_libraries(backend, search, anew, state);
    } else if (!search.looked_in.empty()) {
      state.reason = "its library was not found in " + search.looked_in;
      state.remedy = install_hint(state.name);
    } else {
      settle(state, probe_in_process(backend, {}));
    }
  } catch (const std::exception& error) {
    state.reason = error.what();
  }
  if (!state.reason.empty() && state.remedy.empty()) state.remedy = install_hint(state.name);
  return state;
}

void refresh_memory(BackendState& state) {
  for (Device& device : state.devices) {
    if (device.kind != DeviceKind::processor || !device.unified_memory) continue;
    const Device now = backends::host_device(device.backend, device.description);
    device.total_bytes = now.total_bytes;
    device.free_bytes = now.free_bytes;
  }
}

bool is_probed_at_once(const backends::Registration& row) { return row.name == "cpu" || row.name == "reference"; }

std::string names_of(const Machine& machine) {
  std::string names;
  for (const BackendState& state : machine.backends) {
    if (state.is_probed && state.is_available()) names += (names.empty() ? "" : ", ") + state.name;
  }
  return names;
}

}  // namespace

Machine discover(const DiscoveryOptions& options) {
  Machine machine;
  const std::lock_guard lock(known().mutex);
  if (options.anew) known().states.clear();
  for (const backends::Registration& row : backends::registrations()) {
    const auto found = known().states.find(row.name);
    if (found != known().states.end()) {
      machine.backends.push_back(found->second);
      refresh_memory(machine.backends.back());
      continue;
    }
    const bool wanted = is_probed_at_once(row) || !options.wants || options.wants(plain_state(row));
    if (!wanted) {
      BackendState state = plain_state(row);
      state.is_probed = false;
      state.reason = "nobody has asked for it yet";
      machine.backends.push_back(std::move(state));
      continue;
    }
    BackendState state = probed_state(row, options.anew);
    known().states.emplace(state.name, state);
    machine.backends.push_back(std::move(state));
  }
  return machine;
}

Machine discover_for(const Preferences& preferences, const ModelNeeds& model) {
  Preferences all = preferences;  // backends named by the manifest must be probed too
  all.choice.places.insert(all.choice.places.end(), model.backends.begin(), model.backends.end());
  if (!model.file_extension.empty())
    all.choice.places.push_back(BackendPlace::onnx());  // the only one that reads files
  const bool may_have_accelerators = base::may_have_accelerators();
  return discover({.wants = [&](const BackendState& state) { return concerns(all, state, may_have_accelerators); }});
}

std::vector<std::string> list_available() {
  std::vector<std::string> names;
  for (const BackendState& state : discover().backends) {
    if (state.is_available()) names.push_back(state.name);
  }
  return names;
}

std::string default_backend(const std::vector<BackendPlace>& priority) {
  Preferences preferences;
  preferences.choice.places = priority.empty() ? machine::priority() : priority;
  preferences.origin.places = "the priority";
  return select({.name = "any"}, preferences, discover_for(preferences)).backend;
}

void check_names(const std::vector<BackendPlace>& places) {
  // Selection checks each name, and needs no devices for that.
  Preferences preferences;
  preferences.choice.places = places;
  select({.name = "any"}, preferences, discover({.wants = [](const BackendState&) { return false; }}));
}

void set_priority(std::vector<BackendPlace> priority) {
  check_names(priority);
  const std::lock_guard lock(known().mutex);
  known().priority = std::move(priority);
}

std::vector<BackendPlace> priority() {
  const std::lock_guard lock(known().mutex);
  return known().priority;
}

void log_backends(const Machine& machine, const Preferences& preferences) {
  const Selection chosen = select({.name = "any"}, preferences, machine);
  base::log(base::LogLevel::info, "backends", {{"default", chosen.backend}, {"available", names_of(machine)}});
}

}  // namespace alate::machine
