// The rows of the registry for backends that ALATE_BACKEND_PATH names.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "backends/registry.h"

namespace alate::plugin {

/// What ALATE_BACKEND_PATH held when it was first asked for, but for names of `built_in`; later calls give the same.
/// Opens no library. What is refused is logged once, as a warning. Thread-safe.
std::span<const backends::Registration> plugin_registrations(std::span<const backends::Registration> built_in);

/// Files and folders of ALATE_BACKEND_PATH that gave no backend, with the reason; for after `plugin_registrations`.
std::span<const std::string> refused_plugins();

/// The name of the backend whose library says that it has this alias; empty when none has. Opens every library that
/// was found. For after `plugin_registrations`.
std::string_view find_plugin_by_alias(std::string_view alias);

}  // namespace alate::plugin
