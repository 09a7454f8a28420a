// Estimates, before a graph is compiled, of the memory it will take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace alate::backends {

/// The value that a run gives to one of a graph's named dims.
struct DimSetting {
  std::string name;
  std::int64_t value = 0;
};
using DimSettings = std::vector<DimSetting>;

/// Bytes on a device.
struct MemoryNeeds {
  std::size_t mapped_weights = 0;  // read from the mapped file in every run
  std::size_t owned_weights = 0;   // copies: packed, folded or uploaded
  std::size_t activations = 0;     // intermediate values: the peak of those live at the same time in a run
  std::size_t inputs = 0, outputs = 0;
};

/// The settings as values of the graph's dims; names that it does not have are ignored.
graph::DimValues dim_values(const graph::Graph& graph, const DimSettings& settings);

/// The needs of a run that allocates each value at its node, frees it after its last reader, and copies all weights.
/// `graph` must be as the backend runs it: optimized and decomposed. Throws invalid_argument for a dim without a value,
/// resource_exhausted for sizes beyond any memory.
MemoryNeeds needs_by_lifetimes(const graph::Graph& graph, const graph::DimValues& values);

/// Bytes of the graph's parameters and outputs.
std::size_t input_bytes(const graph::Graph& graph, const graph::DimValues& values);
std::size_t output_bytes(const graph::Graph& graph, const graph::DimValues& values);

}  // namespace alate::backends
