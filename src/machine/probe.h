// Opening a foreign library to see what it has: done in a process of its own, since a broken one may end it.
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
  std::string reason = {}, remedy = {};   // why there are none
};

/// The devices of a backend with that library, tested; in this process. Never throws.
Probe probe_here(backends::Backend& backend, const std::filesystem::path& library);

/// The same in a process of the program that `set_probe_program` named, else in this one after a look at the file.
Probe probe_apart(backends::Backend& backend, const std::filesystem::path& library);

/// As text, for the pipe between the processes and for the cache; memory figures of processors are left out, since they
/// are those of now. `parse_probe` throws corrupt for what is no such text.
std::string to_text(const Probe& probe);
Probe parse_probe(std::string_view text, std::string_view what);

/// The program that is started with these words, the backend's name and the library's path behind them, and then prints
/// `to_text(probe_here(…))`: alate itself, by a hidden verb. To be called before any discovery.
void set_probe_program(std::filesystem::path program, std::vector<std::string> words);

/// A probe kept on disk, as long as the library, the drivers and this program are the same.
std::optional<Probe> cached_probe(const backends::Backend& backend, const std::filesystem::path& library);
void cache_probe(const backends::Backend& backend, const std::filesystem::path& library, const Probe& probe);

}  // namespace alate::machine
