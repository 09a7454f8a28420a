// The list of backends: first those of this build, then those that ALATE_BACKEND_PATH names.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "backends/backend.h"

namespace alate::backends {

/// A row of the registry.
struct Registration {
  std::string_view name;
  std::span<const std::string_view> aliases;
  std::string_view sentence;
  std::function<Backend&()> get;  // made at first use, lives as long as the process
};

/// All rows, made at the first call. Libraries of ALATE_BACKEND_PATH are listed by their file names; none is opened.
/// Thread-safe, like all functions here.
std::span<const Registration> registrations();

/// Entries of ALATE_BACKEND_PATH that are no backend, with the reason: "FILE: why".
std::span<const std::string> refused_registrations();

/// The row of this name or alias, null when there is none. For a name that no row has, opens the libraries of
/// ALATE_BACKEND_PATH to ask for their aliases.
const Registration* find_registration(std::string_view name);

/// The backend of this name or alias. Throws not_found, listing the known names.
Backend& get_backend(std::string_view name);

}  // namespace alate::backends
