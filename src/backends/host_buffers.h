// Helpers for backends whose buffers are in host memory.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "backends/backend.h"

namespace alate::backends {

std::vector<Port> input_ports(const graph::Graph& graph);
std::vector<Port> output_ports(const graph::Graph& graph);

/// The host tensor of a buffer. Throws invalid_argument for an empty buffer or one on another device.
const Tensor& host_tensor(const Buffer& buffer);
std::vector<Tensor> host_tensors(std::span<const Buffer> buffers);

/// Whether two ranges share bytes.
bool overlap(std::span<const std::byte> a, std::span<const std::byte> b);

/// Gives results to the caller: an empty buffer takes the tensor itself, any other gets a copy. Throws invalid_argument
/// when shapes differ.
void store_outputs(std::span<const Tensor> results, std::span<Buffer> outputs);

/// The host's processor as a device, with its current memory figures.
Device host_device(std::string backend, std::string description);

}  // namespace alate::backends
