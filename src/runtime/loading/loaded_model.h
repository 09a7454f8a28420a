// The implementation of Model: its files, and the programs compiled from them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "alate/error.h"
#include "alate/model.h"
#include "backends/backend.h"
#include "base/threads/mutex.h"
#include "formats/json.h"
#include "formats/safetensors/safetensors_model.h"
#include "hub/manifest.h"
#include "machine/selection.h"
#include "models/encoder.h"
#include "runtime/batching/batch_parts.h"
#include "runtime/batching/packing.h"
#include "runtime/batching/rounding.h"
#include "runtime/loading/model_content.h"
#include "runtime/loading/model_files.h"

namespace alate::runtime {

/// An encoder's compiled graph with a choice of outputs. Thread-safe.
class EncoderProgram {
 public:
  /// `executable` takes the parameters of `models::declare_encoder_inputs`, followed by those that `add_inputs` adds.
  /// It reads `weights`, which may be mapped files, while it runs.
  EncoderProgram(std::unique_ptr<backends::Executable> executable, const models::EncoderLimits& limits, Dim tokens,
                 Rounding rounding = {}, formats::SafetensorsModel weights = {});
  virtual ~EncoderProgram() = default;
  EncoderProgram(const EncoderProgram&) = delete;
  EncoderProgram& operator=(const EncoderProgram&) = delete;

  /// The outputs that the program was built with: [tokens, …] or [sequences, …] float32. An empty batch gives empty
  /// results where rows are tokens, and zeros where they are sequences. Also throws cancelled, and corrupt when a file
  /// that the program reads was truncated or changed.
  std::vector<Tensor> run(const PackedTokens& tokens, const PackingOptions& options,
                          const backends::RunOptions& run_options) const;
  std::span<const backends::Port> outputs() const { return executable_->outputs(); }
  /// Whether rows of output `i` are tokens (else sequences).
  bool is_per_token(std::size_t i) const;
  virtual backends::ExecutableFacts facts() const { return executable_->facts(); }

 private:
  std::vector<Tensor> run_whole(const PackedTokens& tokens, const PackingOptions& options,
                                const backends::RunOptions& run_options) const;
  std::vector<Tensor> run_parts(std::span<const BatchPart> parts, std::size_t workers, const PackedTokens& tokens,
                                const PackingOptions& options, const backends::RunOptions& run_options) const;
  // Runs the executable. Discards results that were computed from a file truncated meanwhile.
  void run_with_unchanged_files(std::span<const backends::Buffer> inputs, std::span<backends::Buffer> outputs,
                                const backends::RunOptions& run_options) const;
  // A tensor for all rows of output `i`.
  Tensor make_output(std::size_t i, std::size_t tokens, std::size_t sequences, bool is_zero) const;

  // Further inputs, made from the same tokens.
  virtual void add_inputs(const PackedTokens& /*tokens*/, const PackingOptions& /*options*/,
                          std::vector<backends::Buffer>& /*inputs*/,
                          const backends::RunOptions& /*run_options*/) const {}

  std::unique_ptr<backends::Executable> executable_;
  models::EncoderLimits limits_;
  Dim tokens_dim_;
  Rounding rounding_;           // empty where new extents cost the backend nothing
  std::size_t tokens_at_once_;  // the size of a batch's parts
  formats::SafetensorsModel weights_;
};

/// The backend preferences in the options, or the process's priority where there are none.
machine::Preferences preferences_of(const LoadOptions& options);

/// The last part of a model's path, for messages.
std::string shown_name(const std::filesystem::path& folder);

/// An error of a backend while it compiled: another backend may succeed.
class BackendFailure : public Error {
 public:
  explicit BackendFailure(const Error& error) : Error(error) {}
};

/// Adds outputs over the encoder's last hidden state.
using Head = std::function<void(graph::Builder&, const models::EncoderInputs&, const models::BuiltEncoder&)>;

}  // namespace alate::runtime

namespace alate {

/// Once loaded, immutable except for the program of forward, which is compiled at its first use.
struct Model::State {
  using Prepare = std::function<void(const State&)>;

  /// Reads everything that does not depend on a backend: settings, manifest, the headers of the weights. Throws as
  /// Model::load for files that are missing, broken or of an unknown architecture.
  static std::shared_ptr<State> read(const std::filesystem::path& folder, const LoadOptions& options);
  /// Chooses a backend and lets `prepare` compile what the caller needs on it; where the backend is the cause of a
  /// failure, tries the next one. `supported` names the backends that may run the model, besides which the manifest's
  /// own list must allow them; empty: any. Throws as Model::load. Call once.
  void bind_to_backend(const Prepare& prepare, const std::vector<std::string>& supported = {});
  /// Both.
  static std::shared_ptr<State> load(const std::filesystem::path& folder, const LoadOptions& options,
                                     const Prepare& prepare, const std::vector<std::string>& supported = {});

  std::string name;  // the last part of the path that it was loaded from
  std::filesystem::path folder;
  LoadOptions options;
  formats::Json config;
  runtime::ModelFiles files;
  formats::SafetensorsModel weights;
  const models::Architecture* architecture = nullptr;
  models::EncoderLimits limits;
  models::WeightSettings weight_settings;
  std::shared_ptr<backends::WeightStore> store;
  backends::Backend* backend = nullptr;
  hub::Manifest manifest;
  std::unique_ptr<const runtime::ModelContent> content;
  backends::SessionOptions session_options;  // from the manifest, for the backend
  std::unique_ptr<graph::GraphDump> dump;    // where the options name a dump folder
  ModelFacts facts;

  /// Compiles the encoder with the outputs that `head` adds. Weights are shared with all other programs of the model.
  /// Throws runtime::BackendFailure where the backend cannot compile it.
  std::shared_ptr<const runtime::EncoderProgram> compile(const runtime::Head& head, models::HeadChoice choice) const;
  /// Does all that `compile` does except compiling, and throws as it: builds the graph, which needs every weight in its
  /// shape, and compares the memory it takes with what is free. An ONNX file is opened, since only its runtime can say
  /// whether it runs.
  void check(const runtime::Head& head, models::HeadChoice choice) const;
  /// The options that every graph of the model is compiled with.
  backends::CompileOptions compile_options() const;
  /// The ONNX file's executable on the backend, opened at its first use; only where `files` has one. Throws
  /// runtime::BackendFailure as `compile`.
  std::shared_ptr<backends::Executable> open_file() const;
  /// As Model::fingerprint.
  Fingerprint fingerprint() const;
  /// Compiles all that `Model::forward` needs.
  void prepare_forward() const;
  /// The program of `Model::forward`, compiled at its first use. It gives hidden states for ONNX files, for which
  /// `Model::forward` does not use it.
  const runtime::EncoderProgram& forward_program() const;

  // One for each value made at first use. Making `forward` opens `file` with `forward_mutex` held; the mutexes are
  // never locked in the other order.
  mutable base::Mutex file_mutex, forward_mutex;
  mutable std::shared_ptr<backends::Executable> file;
  mutable std::shared_ptr<const runtime::EncoderProgram> forward;
};

}  // namespace alate
