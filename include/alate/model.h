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

#include "alate/backend_choice.h"
#include "alate/installed_header.h"
#include "alate/run_control.h"
#include "alate/selection.h"
#include "alate/tensor.h"

namespace alate {

struct LoadOptions {
  BackendChoice backend = {};
  std::size_t threads = 0;               // maximum threads of the shared pool that this model uses; 0: all
  bool map_files = true;                 // false: read weights into memory instead of mapping the file
  std::filesystem::path onnx_file = {};  // inside the folder: run unchanged instead of the weights; empty: as found
  // An EmbeddingPipeline chooses an automatic type by measuring; a Model without that pipeline runs as stored.
  ComputeType dtype = ComputeType::as_stored;
  BlockActivations activations = BlockActivations::int8;
  // Numbers of the keys and values that a language model keeps of earlier tokens: f32, f16, bf16, or i8 with a scale
  // for each token and head. Others than f32 take a half or a quarter of the memory, and of the time to read them, and
  // round.
  DType cache_type = DType::f32;
  std::filesystem::path dump_graphs = {};  // folder to write the graph to, as text, after each pass; empty: none
  // The last place where builtin:NAME is searched for: the prefix that a header of this path is installed in.
  std::string installed_header = ALATE_INSTALLED_HEADER;
};

/// Tensors by name; names are those of inputs and outputs of forward in `transformers`.
using NamedTensors = std::map<std::string, Tensor, std::less<>>;

/// Sequences of tokens without padding, concatenated.
struct PackedTokens {
  std::vector<std::int32_t> ids;
  std::vector<std::int32_t> type_ids;   // of each token; empty: all 0
  std::vector<std::int32_t> positions;  // of each token; empty: as the architecture counts them, mostly from 0
  std::vector<std::int32_t> lengths;    // of each sequence, in tokens; they sum to ids.size(). 0 is legal
  std::vector<std::int32_t> pool_skip;  // number of leading tokens of each sequence that pooling ignores; empty: none
};

struct ModelFacts {
  std::string architecture;  // "bert"
  std::string backend;
  std::string device;
  std::string dtype;         // compute type
  std::string dtype_reason;  // why auto chose it; set only for dtype auto
  std::size_t weight_bytes = 0;
  std::size_t hidden_size = 0;
  std::size_t max_positions = 0;
  Selection selection;  // why the model runs on this backend
};

/// An encoder from a Hugging Face folder, or an ONNX file. Immutable; thread-safe; copies share state.
class Model {
 public:
  /// `folder` may be "builtin:minilm", a model installed with Alate: it is searched for in the folder that
  /// ALATE_BUILTIN_MODELS names, otherwise in share/alate/models beside the program, beside the program's folder, in
  /// the system's data folders (XDG_DATA_DIRS), and in the prefix that Alate was installed in when the caller was
  /// compiled (alate/installed_header.h). Other models are found by name with alate::find_model. It may be the path of
  /// an ONNX file, and a folder may have one (model.onnx, onnx/model.onnx) instead of safetensors weights: such a file
  /// is run unchanged, by a backend that reads ONNX.
  ///
  /// Chooses a backend and compiles forward on it, falling back to the next choice if a backend cannot. There is no
  /// fallback after loading, so results never mix backends. Throws not_found, corrupt, unsupported (naming the
  /// architecture or option), invalid_argument, resource_exhausted, unavailable (naming each backend that was
  /// considered and why it was rejected), cancelled, deadline_exceeded.
  static Model load(const std::filesystem::path& folder, const LoadOptions& options = {},
                    const RunControl& control = {});

  /// The same as forward in `transformers`, in float32. Inputs: input_ids [batch, length] (i32 or i64), attention_mask
  /// and token_type_ids of the same shape (absent: ones, zeros), position_ids. Outputs: last_hidden_state [batch,
  /// length, hidden] and the outputs of the model's head. Positions with mask 0 are zeros. Throws invalid_argument for
  /// unknown or missing inputs, wrong shapes, ids outside the vocabulary, more positions than the model has; cancelled,
  /// deadline_exceeded. An ONNX model has the inputs and outputs that its file names, in the file's types.
  NamedTensors forward(const NamedTensors& inputs, const RunControl& control = {}) const;

  const ModelFacts& facts() const;
  const std::filesystem::path& folder() const;
  /// Fingerprint of the weight files' bytes, the dtype and the backend. The first call reads the safetensors files, at
  /// about two gigabytes per second; digests are kept in the cache folder until a file changes.
  Fingerprint fingerprint() const;

  struct State;
  explicit Model(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  const State& state() const { return *state_; }

 private:
  std::shared_ptr<const State> state_;
};

}  // namespace alate
