// A plugin's devices as Alate names them.
#pragma once

#include <string_view>
#include <vector>

#include "backends/backend.h"
#include "backends/xla/client.h"

namespace alate::xla {

/// All devices, with current memory figures where the plugin knows them.
std::vector<backends::Device> list_devices(const Client& client);

/// The index of a device given by its name ("cpu", "cuda", "tpu"; "gpu" for any kind of GPU) or its index in digits; 0
/// for an empty name. Throws unavailable, listing the devices there are.
std::size_t find_device(const Client& client, std::string_view wanted);

}  // namespace alate::xla
