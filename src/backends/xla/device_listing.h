// A plugin's devices as Alate names them.
#pragma once

#include <string_view>
#include <vector>

#include "backends/backend.h"
#include "backends/xla/client.h"

namespace alate::xla {

/// All of them, with the memory of now where the plugin knows it.
std::vector<backends::Device> list_devices(const Client& client);

/// The place of a device that is called by its name ("cpu", "cuda", "tpu"; "gpu" for any kind of those) or its index in
/// digits; 0 for an empty name. Throws unavailable that lists what there is.
std::size_t find_device(const Client& client, std::string_view wanted);

}  // namespace alate::xla
