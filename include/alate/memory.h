// How much memory inference takes, and which device holds it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace alate {

/// Bytes that a decoder takes by its sizes alone.
struct InferenceMemory {
  std::uint64_t model = 0;        // weights
  std::uint64_t kv_cache = 0;     // keys and values of one sequence of the greatest length
  std::uint64_t activations = 0;  // of one token, in and between the feed-forward layers
  std::uint64_t total() const { return model + kv_cache + activations; }
};

/// The usual estimate for a decoder with gated feed-forward layers, whose embedding and output tables are two. With h,
/// i, L, V, S for the sizes in order, hd = h / heads and b bytes an element:
///   model       = (L·(2h² + 2h·kv_heads·hd + 3h·i + 2h) + 2V·h + h)·b
///   KV cache    = 2·L·S·kv_heads·hd·b
///   activations = (h + 2i)·2·b
/// Throws invalid_argument naming a size that is 0, heads that do not divide hidden, kv_heads that do not divide heads,
/// and sizes whose bytes no 64-bit number holds.
InferenceMemory estimate_inference_memory(std::uint64_t hidden, std::uint64_t intermediate, std::uint64_t layers,
                                          std::uint64_t vocab, std::uint64_t heads, std::uint64_t kv_heads,
                                          std::uint64_t max_seq, std::uint64_t dtype_bytes);

struct MemoryOptions {
  std::string backend = "cpu";
  std::size_t batch_size = 0;  // texts; 0: as many as are computed at once
  std::size_t max_length = 0;  // tokens of each text; 0: the most that the model takes
  std::string dtype = {};      // to compute in, as LoadOptions have it
};

/// Bytes that a model takes on a backend, by the graph that the backend would run.
struct ModelMemory {
  std::string backend;
  std::string dtype;                 // that is computed in
  std::size_t batch_size = 0;        // texts that were asked for
  std::size_t rows_at_once = 0;      // of these, in one run
  std::size_t max_length = 0;        // tokens of each
  std::uint64_t mapped_weights = 0;  // read in the mapped file
  std::uint64_t owned_weights = 0;   // packed, folded or uploaded copies
  std::uint64_t kv_cache = 0;        // 0 for encoders
  std::uint64_t activations = 0;     // the most that live at one time of a run
  std::uint64_t inputs_and_outputs = 0;
  std::uint64_t total() const { return mapped_weights + owned_weights + kv_cache + activations + inputs_and_outputs; }
};

/// Reads the model's config.json and the headers of its weights, builds its graph and asks the backend; reads no
/// weight but those that a dtype would round on loading, and compiles nothing. Throws as Model::load; invalid_argument
/// for more tokens than the model takes.
ModelMemory estimate_model_memory(const std::filesystem::path& folder, const MemoryOptions& options = {});

/// What init_backend_with_memory_check chose.
struct BackendForMemory {
  std::string backend;                   // "cpu"
  std::string device;                    // "cpu", "cuda"
  std::string reason;                    // why this one, with the figures
  std::vector<std::string> passed_over;  // why not the ones before it
};

/// The first device of `preferred` backends, in their order, whose free memory holds `required_bytes`; without
/// preferences accelerators come before the processor. A device that does not say how much memory it has counts as too
/// small. Throws resource_exhausted with every reason when none holds it, not_found for a name that no backend has.
BackendForMemory init_backend_with_memory_check(std::uint64_t required_bytes,
                                                std::span<const std::string> preferred = {});

/// "1.5 GiB", "300 MiB", "17 bytes".
std::string human_bytes(std::uint64_t bytes);

}  // namespace alate
