// What backends share whose buffers are the host's memory.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "backends/backend.h"

namespace alate::backends {

std::vector<Port> input_ports(const graph::Graph& graph);
std::vector<Port> output_ports(const graph::Graph& graph);

/// The host tensor of a buffer. Throws invalid_argument for an empty buffer or another device's.
const Tensor& host_tensor(const Buffer& buffer);
std::vector<Tensor> host_tensors(std::span<const Buffer> buffers);

/// Puts results into the caller's buffers: as they are where the buffer is empty, else copied into it. Throws
/// invalid_argument when shapes differ.
void give_outputs(std::span<const Tensor> results, std::span<Buffer> outputs);

/// A device that is the host's processor, with the memory facts of now.
Device host_device(std::string backend, std::string description);

}  // namespace alate::backends
