// Memory estimates for inference, and the choice of a device with enough memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alate/backend_choice.h"

namespace alate {

/// Bytes that a decoder needs, estimated only from its dimensions.
struct InferenceMemory {
  std::uint64_t model = 0;        // weights
  std::uint64_t kv_cache = 0;     // keys and values of one sequence of the maximum length
  std::uint64_t activations = 0;  // of one token, within and between feed-forward layers
  std::uint64_t total() const { return model + kv_cache + activations; }
};

/// The usual estimate for a decoder with gated feed-forward layers and untied input and output embeddings. With h =
/// hidden, i = intermediate, L = layers, V = vocab, S = max_seq, hd = h / heads and b bytes per element:
///   model       = (L·(2h² + 2h·kv_heads·hd + 3h·i + 2h) + 2V·h + h)·b
///   KV cache    = 2·L·S·kv_heads·hd·b
///   activations = (h + 2i)·2·b
/// Throws invalid_argument, naming the size, for a size of 0, heads that do not divide hidden, kv_heads that do not
/// divide heads, and sizes whose byte count overflows 64 bits.
InferenceMemory estimate_inference_memory(std::uint64_t hidden, std::uint64_t intermediate, std::uint64_t layers,
                                          std::uint64_t vocab, std::uint64_t heads, std::uint64_t kv_heads,
                                          std::uint64_t max_seq, std::uint64_t dtype_bytes);

struct MemoryOptions {
  BackendPlace backend = BackendPlace::cpu();
  std::size_t batch_size = 0;                  // texts; 0: as many as run in one batch
  std::size_t max_length = 0;                  // tokens of each text; 0: the model's maximum
  ComputeType dtype = ComputeType::as_stored;  // automatic: as stored
  /// Of a language model, the tokens of prompt and text together, whose keys and values are kept; `max_length` has no
  /// effect then. 0: the model only reads texts.
  std::size_t context = 0;
};

/// Bytes that a model needs on a backend, computed from the graph that the backend would run.
struct ModelMemory {
  std::string backend;
  std::string dtype;                 // compute type
  std::size_t batch_size = 0;        // requested texts
  std::size_t rows_at_once = 0;      // of these, how many one run computes
  std::size_t max_length = 0;        // tokens of each
  std::uint64_t mapped_weights = 0;  // read in place from the mapped file
  std::uint64_t owned_weights = 0;   // packed, folded or uploaded copies
  std::uint64_t kv_cache = 0;        // of all texts; 0 without MemoryOptions::context
  std::uint64_t activations = 0;     // peak of live values during a run
  std::uint64_t inputs_and_outputs = 0;
  std::uint64_t total() const { return mapped_weights + owned_weights + kv_cache + activations + inputs_and_outputs; }
};

/// Reads the model's config.json and the headers of its weights, builds its graph and asks the backend. Reads only
/// those weights that the dtype would round on loading, and compiles nothing. Throws as Model::load, and
/// invalid_argument for more tokens than the model accepts, unsupported for the context of a model that has none.
ModelMemory estimate_model_memory(const std::filesystem::path& folder, const MemoryOptions& options = {});

/// The choice of init_backend_with_memory_check.
struct BackendForMemory {
  BackendPlace place;                    // with its device: "cpu:cpu", "onnx:cuda"
  std::string reason;                    // why this one, with the numbers
  std::vector<std::string> passed_over;  // why each earlier candidate was rejected
};

/// The first device of the `preferred` backends, in their order, with at least `required_bytes` of free memory; without
/// preferences accelerators come before the CPU. A device that does not report its memory counts as too small. Throws
/// resource_exhausted with every reason when none is large enough, not_found for an unknown backend name.
BackendForMemory init_backend_with_memory_check(std::uint64_t required_bytes,
                                                std::span<const BackendPlace> preferred = {});

/// "1.5 GiB", "300 MiB", "17 bytes".
std::string human_bytes(std::uint64_t bytes);

}  // namespace alate
