// The execution providers that a library may have been built with.
#pragma once

#include <span>

#include "backends/onnxruntime/places.h"

namespace alate::onnxruntime {

/// In order of preference.
std::span<const Provider> known_providers();

}  // namespace alate::onnxruntime
