// Whether a model fits in a device's memory, before it is loaded.
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

/// What is about to be put on a device.
struct MemoryRequest {
  struct Part {
    std::string name;  // "weights"
    std::uint64_t bytes = 0;
  };
  struct Smaller {
    std::string kind;    // "shorter texts": of each kind, messages name the first that fits
    std::string change;  // "--max-length 128"
    std::uint64_t bytes = 0;
  };
  std::string what;              // "model.safetensors on cpu, 4 texts of 512 tokens"
  std::vector<Part> parts;       // that add up
  std::vector<Smaller> smaller;  // what could be asked for instead, of each kind the least change first

  std::uint64_t bytes() const;
};

/// "12.0 GiB (weights 10.0 GiB, activations 2.00 GiB)".
std::string describe(const MemoryRequest& request);

/// Why the request does not fit in the device's free memory, with the figures and what would fit: a smaller request,
/// else one of the `others` that holds it. Nothing when it fits, and when the device does not say how much it has.
std::optional<std::string> check_fits(const MemoryRequest& request, const backends::Device& device,
                                      std::span<const backends::Device> others = {});

/// The first device that can be used and holds the bytes, and why those before it were passed over.
struct DeviceChoice {
  std::optional<std::size_t> device;     // index; none when no device holds them
  std::string reason;                    // "onnx:cuda has 20.0 GiB free for 12.0 GiB"
  std::vector<std::string> passed_over;  // "onnx:cuda has 8.00 GiB free, 12.0 GiB are needed"
};
/// Emulated devices are passed over, and those whose free memory is not known.
DeviceChoice choose_device_by_memory(std::span<const backends::Device> devices, std::uint64_t bytes);

/// How an encoder is going to be run.
struct RunSize {
  std::size_t batch_size = 0;  // texts; 0: as many as are computed at once
  std::size_t max_length = 0;  // tokens of each; 0: the most that the model takes
};

/// What `graph`, an encoder's as declare_encoder_inputs begins it, takes on the backend.
ModelMemory encoder_memory(const backends::Backend& backend, const graph::Graph& graph,
                           const models::EncoderLimits& limits, const RunSize& size = {});

/// The memory that a load asks for. Smaller sizes are asked of the backend as well. `model` is what messages call it.
MemoryRequest encoder_request(const backends::Backend& backend, const graph::Graph& graph,
                              const models::EncoderLimits& limits, const RunSize& size, const std::string& model);

/// How a model must at least be able to run to be loaded: one text, of 512 tokens or the most that it takes.
RunSize least_run(const models::EncoderLimits& limits);

/// To be called before an encoder's graph is compiled for the device. Throws resource_exhausted with check_fits' words.
/// Costs next to nothing where memory is plenty.
void require_memory(const backends::Backend& backend, const backends::Device& device, const graph::Graph& graph,
                    const models::EncoderLimits& limits, const std::string& model, const RunSize& size);

/// The same for the least run on a device of the backend by its index in digits; empty: its first usable one. `backend`
/// is about to compile for it, so its library may be opened. A graph that cannot be estimated is not refused.
void require_memory(backends::Backend& backend, std::string_view device_index, const graph::Graph& graph,
                    const models::EncoderLimits& limits, const std::string& model);

/// A model folder's graph with the outputs of Model::forward, for estimates: nothing is compiled.
struct FolderGraph {
  graph::Graph graph;
  models::EncoderLimits limits;
  std::string dtype;  // that it computes in
};
/// `dtype` is as LoadOptions have it. Throws as Model::load.
FolderGraph graph_of_folder(const std::filesystem::path& folder, std::string_view dtype = {});

}  // namespace alate::runtime
