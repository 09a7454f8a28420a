// What a session says of its inputs and outputs.
#pragma once

#include "backends/onnxruntime/executable.h"

namespace alate::onnxruntime {

/// Dims that the model names get these names in a new table, so that equal names are equal dims; others get names of
/// their own, "input_ids.1". Throws unsupported, naming it, for an input or output that is no tensor, has text for
/// elements, or no rank.
SessionParts read_ports(const Library& library, Owned<abi::Session> session);

}  // namespace alate::onnxruntime
