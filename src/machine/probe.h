// Probing of a foreign library for its devices, in a separate process, since a broken library may crash it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/backend.h"

namespace alate::machine {

struct Probe {
  std::vector<backends::Device> devices;  // usable ones have passed their self-test
  std::string reason = {}, remedy = {};   // why there are no devices
};

/// Lists and tests the devices of a backend with that library, in this process. Never throws.
Probe probe_in_process(backends::Backend& backend, const std::filesystem::path& library);

/// The same in a process of the program that `set_probe_program` named, else in this one after a check of the file.
Probe probe_in_subprocess(backends::Backend& backend, const std::filesystem::path& library);

/// A probe as text, for the pipe between the processes and for the cache. Memory figures of processors are left out,
/// since they go out of date. `parse_probe` throws corrupt for text of another form.
std::string to_text(const Probe& probe);
Probe parse_probe(std::string_view text, std::string_view what);

/// Sets the program that probes: started with these words, then the backend's name and the library's path, it prints
/// `to_text(probe_in_process(…))`. It is alate itself, by a hidden verb. Must be called before any discovery.
void set_probe_program(std::filesystem::path program, std::vector<std::string> words);

/// A probe cached on disk; valid as long as the library, the drivers and this program are unchanged.
std::optional<Probe> cached_probe(const backends::Backend& backend, const std::filesystem::path& library);
void cache_probe(const backends::Backend& backend, const std::filesystem::path& library, const Probe& probe);

}  // namespace alate::machine
