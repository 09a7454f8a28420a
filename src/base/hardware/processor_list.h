// The logical processors that this process may use, and which of them share a core.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

namespace alate::base {

/// Online in the machine, as `root`/sys tells it; empty where it does not.
std::vector<std::size_t> online_processors(const std::filesystem::path& root);

/// Those of `online` that the process's affinity allows, as `root`/proc tells it; all of them where it does not.
/// Sorted as `online` is.
std::vector<std::size_t> allowed_processors(const std::filesystem::path& root, const std::vector<std::size_t>& online);

/// Of each core the first of `processors` that lies there, in their order, by `root`/sys. A processor of which nothing
/// is known counts as a core of its own.
std::vector<std::size_t> one_of_each_core(const std::filesystem::path& root,
                                          const std::vector<std::size_t>& processors);

/// `root`/sys/devices/system/cpu/cpuN.
std::filesystem::path processor_folder(const std::filesystem::path& root, std::size_t processor);

}  // namespace alate::base
