// Registry rows for the backends that ALATE_BACKEND_PATH names.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "backends/registry.h"

namespace alate::plugin {

/// The backends in ALATE_BACKEND_PATH at the first call, without names of `built_in`; later calls give the same. Opens
/// no library. Refused files are logged once, as a warning. Thread-safe.
std::span<const backends::Registration> plugin_registrations(std::span<const backends::Registration> built_in);

/// Files and folders of ALATE_BACKEND_PATH that gave no backend, with the reason. Call after `plugin_registrations`.
std::span<const std::string> refused_plugins();

/// The name of the backend whose library declares this alias; empty when none does. Opens every library that was found.
/// Call after `plugin_registrations`.
std::string_view find_plugin_by_alias(std::string_view alias);

}  // namespace alate::plugin
