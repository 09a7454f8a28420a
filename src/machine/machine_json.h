// Machine and selection as JSON: for `alate backends`, `alate doctor` and the server's /debug/backends.
#pragma once

#include "formats/json.h"
#include "machine/machine.h"
#include "machine/selection.h"

namespace alate::machine {

/// {"backends": [{"name", "aliases", "description", "available", "reason", "remedy", "devices": […]}], "elsewhere":
/// […]}. Reason and remedy are present only where the backend is not available.
formats::Json to_json(const Machine& machine);

/// {"backend", "device", "device_description", "dtype", "reason", "required_backends", "considered": […]}.
formats::Json to_json(const Selection& selection);

}  // namespace alate::machine
