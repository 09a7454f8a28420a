// The backends of this build: one explicit list.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "backends/backend.h"

namespace alate::backends {

/// A line of the registry's list.
struct Registration {
  std::string_view name;
  std::span<const std::string_view> aliases;
  std::string_view sentence;
  Backend& (*get)();  // made at first use, lives as long as the process
};

std::span<const Registration> registrations();

/// The backend of this name or alias. Throws not_found that lists the names there are.
Backend& get_backend(std::string_view name);

}  // namespace alate::backends
