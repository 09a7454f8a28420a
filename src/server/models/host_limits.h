// Limits on the models that a server keeps in memory.
#pragma once

#include <cstddef>

#include "base/hardware/cpu_facts.h"
#include "server/settings/settings.h"

namespace alate::server {

struct HostLimits {
  std::size_t models = 0;  // 0: unlimited
  std::size_t bytes = 0;   // of weights; 0: unlimited
};

/// Limits from the settings. Those left to the server depend on free memory: three quarters of it for weights, and one
/// model per half gigabyte, between 4 and 64.
HostLimits host_limits(const Settings& settings, const base::MemoryFacts& memory);

}  // namespace alate::server
