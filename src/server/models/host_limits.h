// How many models a server keeps in memory.
#pragma once

#include <cstddef>

#include "base/hardware/cpu_facts.h"
#include "server/settings/settings.h"

namespace alate::server {

struct HostLimits {
  std::size_t models = 0;  // 0: any number
  std::size_t bytes = 0;   // of weights; 0: any number
};

/// As the settings say; where they leave it to the server, by the memory that is free: three quarters of it for
/// weights, and a model for each half gigabyte, from 4 to 64 of them.
HostLimits host_limits(const Settings& settings, const base::MemoryFacts& memory);

}  // namespace alate::server
