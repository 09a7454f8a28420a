// Estimates, before a model is loaded, of whether it fits in a device's memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alate/memory.h"
#include "backends/backend.h"
#include "models/encoder.h"

namespace alate::runtime {

/// Memory that is about to be taken on a device.
struct MemoryRequest {
  struct Part {
    std::string name;  // "weights"
    std::uint64_t bytes = 0;
  };
  struct Smaller {
    std::string kind;    // "shorter texts"; messages name the first of each kind that fits
    std::string change;  // "--max-length 128"
    std::uint64_t bytes = 0;
  };
  std::string what;              // "model.safetensors on cpu, 4 texts of 512 tokens"
  std::vector<Part> parts;       // the summands
  std::vector<Smaller> smaller;  // smaller requests instead, of each kind the least change first

  std::uint64_t bytes() const;
};

/// "12.0 GiB (weights 10.0 GiB, activations 2.00 GiB)".
std::string describe(const MemoryRequest& request);

/// Why the request does not fit in the device's free memory, with the figures and what would fit: a smaller request,
/// else one of the `others` that can hold it. Empty when it fits, or when the device's free memory is unknown.
std::optional<std::string> check_fits(const MemoryRequest& request, const backends::Device& device,
                                      std::span<const backends::Device> others = {});

/// The first usable device with room for the bytes, and why those before it were passed over.
struct DeviceChoice {
  std::optional<std::size_t> device;     // index; empty when no device has room
  std::string reason;                    // "onnx:cuda has 20.0 GiB free for 12.0 GiB"
  std::vector<std::string> passed_over;  // "onnx:cuda has 8.00 GiB free, 12.0 GiB are needed"
};
/// Passes over emulated devices, and devices whose free memory is unknown.
DeviceChoice choose_device_by_memory(std::span<const backends::Device> devices, std::uint64_t bytes);

/// The size of an encoder's runs.
struct RunSize {
  std::size_t batch_size = 0;  // texts; 0: as many as are computed at once by default
  std::size_t max_length = 0;  // tokens of each text; 0: the model's limit
};

/// The memory that `graph`, an encoder's that begins with declare_encoder_inputs, takes on the backend.
ModelMemory encoder_memory(const backends::Backend& backend, const graph::Graph& graph,
                           const models::EncoderLimits& limits, const RunSize& size = {});

/// The memory that a load asks for, with alternatives of smaller size estimated by the backend. `model` is its name in
/// messages.
MemoryRequest encoder_request(const backends::Backend& backend, const graph::Graph& graph,
                              const models::EncoderLimits& limits, const RunSize& size, const std::string& model);

/// The smallest run that must fit for a model to be loaded: one text, of 512 tokens or the model's limit.
RunSize least_run(const models::EncoderLimits& limits);

/// Call before an encoder's graph is compiled for the device. Throws resource_exhausted with check_fits' message. Costs
/// next to nothing where memory is plentiful.
void require_memory(const backends::Backend& backend, const backends::Device& device, const graph::Graph& graph,
                    const models::EncoderLimits& limits, const std::string& model, const RunSize& size);

/// The same for least_run on the backend's device of this index, in digits; empty: its first usable one. `backend` is
/// about to compile for it, so its library may be opened. A graph that cannot be estimated is not refused.
void require_memory(backends::Backend& backend, std::string_view device_index, const graph::Graph& graph,
                    const models::EncoderLimits& limits, const std::string& model);

/// A model folder's graph with the outputs of Model::forward, for estimates: nothing is compiled.
struct FolderGraph {
  graph::Graph graph;
  models::EncoderLimits limits;
  std::string dtype;  // in which it computes
};
/// `dtype` is as in LoadOptions. Throws as Model::load.
FolderGraph graph_of_folder(const std::filesystem::path& folder, ComputeType dtype = ComputeType::as_stored);
/// Those of the model's other transformers (transformer_folders), which are loaded beside it.
std::vector<FolderGraph> graphs_beside(const std::filesystem::path& folder, ComputeType dtype = ComputeType::as_stored);

/// The same run by another model, with no more tokens than that takes.
RunSize size_for(const models::EncoderLimits& limits, RunSize size);

}  // namespace alate::runtime
