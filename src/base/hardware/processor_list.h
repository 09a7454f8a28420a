// The logical processors that this process may use, and which of them share a core.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

namespace alate::base {

/// Online processors, from `root`/sys; empty if it does not list them.
std::vector<std::size_t> online_processors(const std::filesystem::path& root);

/// The processors of `online` that the process's affinity mask allows, from `root`/proc, in the order of `online`; all
/// of them if it does not list any.
std::vector<std::size_t> allowed_processors(const std::filesystem::path& root, const std::vector<std::size_t>& online);

/// The first of `processors` on each core, in their order, by `root`/sys. A processor without topology information
/// counts as a separate core.
std::vector<std::size_t> one_of_each_core(const std::filesystem::path& root,
                                          const std::vector<std::size_t>& processors);

/// `root`/sys/devices/system/cpu/cpuN.
std::filesystem::path processor_folder(const std::filesystem::path& root, std::size_t processor);

}  // namespace alate::base
