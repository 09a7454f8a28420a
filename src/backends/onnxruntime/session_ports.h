// Reads the inputs and outputs of a session.
#pragma once

#include "backends/onnxruntime/executable.h"

namespace alate::onnxruntime {

/// Dims that the model names get these names in a new table, so that equal names are equal dims; others get names of
/// their own, "input_ids.1". Throws unsupported, naming the port, for an input or output that is no tensor, has strings
/// as elements, or has no rank.
SessionParts read_ports(const Library& library, Owned<abi::Session> session);

}  // namespace alate::onnxruntime
