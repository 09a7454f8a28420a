// The backends that there are: one explicit list of those of this build, then those that ALATE_BACKEND_PATH names.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "backends/backend.h"

namespace alate::backends {

/// A line of the registry's list.
struct Registration {
  std::string_view name;
  std::span<const std::string_view> aliases;
  std::string_view sentence;
  std::function<Backend&()> get;  // made at first use, lives as long as the process
};

/// All rows, made at the first call; libraries of ALATE_BACKEND_PATH are known by their files' names, none is opened.
/// Thread-safe, as all here.
std::span<const Registration> registrations();

/// What ALATE_BACKEND_PATH names that is no backend, with the reason: "FILE: why".
std::span<const std::string> refused_registrations();

/// The row of this name or alias, null when there is none. A name that no row has is asked of libraries of
/// ALATE_BACKEND_PATH as an alias, which opens them.
const Registration* find_registration(std::string_view name);

/// The backend of this name or alias. Throws not_found that lists the names there are.
Backend& get_backend(std::string_view name);

}  // namespace alate::backends
