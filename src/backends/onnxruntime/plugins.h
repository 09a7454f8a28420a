// Execution providers in libraries of their own: https://onnxruntime.ai/docs/execution-providers/plugin-ep-libraries/
#pragma once

#include <span>
#include <string>
#include <vector>

#include "backends/onnxruntime/places.h"

namespace alate::onnxruntime {

/// The devices of all plugins beside the library and in `folders`, without those of providers named `built_in`. A
/// plugin that cannot be opened, or that finds no device, gives one place that says so. Libraries older than 1.22 have
/// no plugins.
std::vector<Place> plugin_places(const Library& library, std::span<const std::string> built_in,
                                 const std::vector<std::filesystem::path>& folders);

}  // namespace alate::onnxruntime
