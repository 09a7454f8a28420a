// Loaded models: named tensors in, named tensors out.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alate/cancellation.h"
#include "alate/selection.h"
#include "alate/tensor.h"

namespace alate {

struct LoadOptions {
  std::vector<std::string> backends = {};  // NAME[:DEVICE] or auto, first choice first; empty: what is best here
  std::string asked_by = "the options";    // who names them, for messages
  bool is_wish = false;                    // followed where possible, never strict
  std::string device = {};                 // of backends that name none
  std::string gpu = "auto";                // cuda, coreml, tpu: devices of that kind first; off: no accelerators
  bool gpu_is_wish = false;
  BackendPolicy policy = BackendPolicy::warn;
  std::size_t threads = 0;               // most threads of the shared pool that this model uses; 0: all
  bool map_files = true;                 // false: read weights into memory instead of mapping the file
  std::filesystem::path onnx_file = {};  // inside the folder: run as it is instead of the weights; empty: as found
  std::string pooling = {};  // of pipelines that pool: cls, mean, max, mean_sqrt_len_tokens, weightedmean, lasttoken
  // To compute products in: float32, bfloat16, float16 (weights alone), int8; empty: as stored. With auto, an
  // EmbeddingPipeline takes the fastest on this machine that keeps a mean cosine of 0.999 to float32; a Model alone is
  // as stored.
  std::string dtype = {};
  std::filesystem::path dump_graphs = {};  // a folder that gets the graph as text after each pass; empty: none
};

/// Named values, as `transformers` names the inputs and outputs of forward.
using NamedTensors = std::map<std::string, Tensor, std::less<>>;

/// Rows of tokens without padding: the tokens of one text after the other.
struct PackedTokens {
  std::vector<std::int32_t> ids;
  std::vector<std::int32_t> type_ids;   // of each token; empty: all 0
  std::vector<std::int32_t> positions;  // of each token; empty: 0, 1, … in each sequence
  std::vector<std::int32_t> lengths;    // of each sequence, in tokens; the sum is ids.size(). 0 is legal
  std::vector<std::int32_t> pool_skip;  // leading tokens of each sequence that pooling leaves out; empty: none
};

struct ModelFacts {
  std::string architecture;  // "bert"
  std::string backend;
  std::string device;
  std::string dtype;         // that the model computes in
  std::string dtype_reason;  // why, where dtype auto chose it
  std::size_t weight_bytes = 0;
  std::size_t hidden_size = 0;
  std::size_t max_positions = 0;
  Selection selection;  // why it runs where it runs
};

/// An encoder from a Hugging Face folder, or an ONNX file. Immutable; thread-safe; copies share it.
class Model {
 public:
  /// `folder` may be "builtin:minilm", a model that is installed with Alate: it is looked for in the folder that
  /// ALATE_BUILTIN_MODELS names, else in share/alate/models beside the program, beside the folder that the program lies
  /// in, and in the system's (XDG_DATA_DIRS). It may be the path of an ONNX file, and a folder may have one
  /// (model.onnx, onnx/model.onnx) instead of weights as safetensors: such a file is run as it is, by a backend that
  /// reads it.
  ///
  /// Chooses a backend, compiles forward there, and goes on to the next choice where a backend cannot: never later, so
  /// that no result comes from two backends. Throws not_found, corrupt, unsupported (naming the architecture or
  /// option), invalid_argument, resource_exhausted, unavailable (naming each backend that was considered and why not).
  static Model load(const std::filesystem::path& folder, const LoadOptions& options = {});

  /// What `transformers` forward does, in float32. Inputs: input_ids [batch, length] (i32 or i64), attention_mask and
  /// token_type_ids of the same shape (absent: ones, zeros), position_ids. Outputs: last_hidden_state [batch, length,
  /// hidden] and what the head of the model gives. Places with mask 0 are zeros. Throws invalid_argument for unknown or
  /// missing inputs, wrong shapes, ids outside the vocabulary, more positions than the model has; cancelled. An ONNX
  /// file takes and gives what it names, in its own types.
  NamedTensors forward(const NamedTensors& inputs, const CallOptions& call = {}) const;

  const ModelFacts& facts() const;
  const std::filesystem::path& folder() const;
  /// Of the bytes of the weights' files, dtype and backend. Files of safetensors are read for it at the first call,
  /// some two gigabytes a second; what was read once is remembered in the cache folder until the file changes.
  Fingerprint fingerprint() const;

  struct State;
  explicit Model(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  const State& state() const { return *state_; }

 private:
  std::shared_ptr<const State> state_;
};

}  // namespace alate
