// How a model's computations are given: weights that an architecture's graphs read, or a file that a runtime executes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alate/model.h"
#include "backends/backend.h"
#include "formats/json.h"
#include "formats/weight_source.h"
#include "machine/selection.h"
#include "models/encoder.h"
#include "models/inputs/page_inputs.h"
#include "runtime/loading/entry_point.h"
#include "runtime/loading/model_files.h"

namespace alate::runtime {

/// Adds outputs over the encoder's last hidden state.
using Head = std::function<void(graph::Builder&, const models::EncoderInputs&, const models::BuiltEncoder&)>;

/// What a graph is built for.
struct GraphRequest {
  const Head& head;
  models::HeadChoice choice = models::HeadChoice::none;
  models::TokenPlaces places = models::TokenPlaces::consecutive;
  std::string_view adapter = {};  // one of ModelForm::adapters(); empty: none
};

/// The graph of an entry point, and the makers of its inputs.
struct BuiltEntry {
  std::shared_ptr<const graph::Graph> graph;
  std::vector<models::CountedDim> counted;  // the dims of its inputs, the tokens first
  Feeders feeders;
  bool reads_first = true;                                 // whether an output depends on EncoderInputs::first
  std::optional<models::RowParts> example = std::nullopt;  // of a row of one token, where rows have parts
};

/// The graph of a StepProgram.
struct BuiltStep {
  std::shared_ptr<const graph::Graph> graph;
  models::CacheLayout layout;
  std::vector<models::CountedDim> counted;
};

/// A float32 output of `forward`, as far as known before any run.
struct ForwardOutput {
  std::string name;
  bool is_per_token = false;          // [batch, length, …], else [batch, …]
  std::vector<std::int64_t> extents;  // after these dims; -1: not given by the file
};

/// Whatever is asked of a model and depends on its form. Immutable; thread-safe. `model` is one that has this form and
/// is bound to a backend.
class ModelForm {
 public:
  virtual ~ModelForm() = default;
  ModelForm(const ModelForm&) = delete;
  ModelForm& operator=(const ModelForm&) = delete;

  /// What messages and listings call the architecture: "bert".
  virtual std::string architecture_name() const = 0;
  /// Null if none is known: heads cannot be built then.
  virtual const models::Architecture* architecture() const { return nullptr; }
  virtual const models::EncoderLimits& limits() const = 0;
  virtual std::uint64_t weight_bytes() const = 0;
  /// What graphs read; null if a runtime reads its file by itself.
  virtual std::shared_ptr<const formats::WeightSource> weights() const { return nullptr; }
  /// The extension of the file that a backend must be able to read; empty: any that compiles graphs.
  virtual std::string file_extension() const { return {}; }

  /// The type of the products: "float32".
  virtual std::string dtype() const = 0;
  /// Names of adapters that graphs may be built with, sorted.
  virtual std::span<const std::string> adapters() const { return {}; }
  /// Why no other type can be asked for; empty if one can.
  virtual std::string reason_of_dtype() const { return {}; }
  /// Whether weights are rounded as they are loaded.
  virtual bool rounds_weights() const { return false; }

  /// The encoder with the outputs that the request's head adds. Throws unsupported for what the form cannot give,
  /// not_found and corrupt for weights, cancelled, BackendFailure where a file cannot be opened.
  virtual BuiltEntry build(const Model::State& model, const GraphRequest& request,
                           const base::Cancellation& cancellation) const = 0;

  /// The entry point "step". Throws as models::build_step, and as `build`.
  virtual BuiltStep build_step(const Model::State& model, const base::Cancellation& cancellation) const = 0;

  /// The folder's head over rows of hidden states [tokens, hidden size], with the outputs that `head` adds: its
  /// BuiltEncoder has those rows as the last hidden state. Throws as `build`.
  virtual graph::Graph build_head(const Model::State& model, const Head& head,
                                  const base::Cancellation& cancellation) const = 0;

  /// Compiles or opens all that `forward` needs; throws as `build`.
  virtual void prepare_forward(const Model::State& model) const = 0;
  /// As runtime::forward and the functions beside it.
  virtual NamedTensors forward(const Model::State& model, const NamedTensors& inputs,
                               const backends::RunOptions& options) const = 0;
  virtual std::vector<ForwardOutput> forward_outputs(const Model::State& model) const = 0;
  virtual std::vector<std::string> forward_inputs(const Model::State& model) const = 0;
  virtual void add_usual_inputs(const Model::State& model, NamedTensors& inputs) const = 0;

 protected:
  ModelForm() = default;
};

/// The config.json, or what a GGUF says instead; empty where there is none and the model's form needs none. Throws
/// not_found, corrupt, and as formats::gguf_config.
formats::Json read_config(const ModelFiles& files);

/// The form of a model's files. `dtype` is as in LoadOptions. Throws as Model::load for files that are missing, broken
/// or of an unknown architecture, and unsupported for a dtype that the form does not compute in.
std::unique_ptr<const ModelForm> read_form(const ModelFiles& files, const formats::Json& config,
                                           const LoadOptions& options);

/// The two forms. Weights, computed by an architecture's graphs.
std::unique_ptr<const ModelForm> form_of_weights(const ModelFiles& files, const formats::Json& config,
                                                 const LoadOptions& options);
/// An ONNX file, executed as it is. `architecture` is for messages.
std::unique_ptr<const ModelForm> form_of_file(std::filesystem::path file, std::string architecture,
                                              models::EncoderLimits limits);
/// The limits of a file's encoder, from its config.json, which may be empty.
models::EncoderLimits limits_of_config(const formats::Json& config);

/// What selection needs to know about a model of this form.
machine::ModelNeeds needs_of(const ModelForm& form, std::string name, std::vector<BackendPlace> backends);

}  // namespace alate::runtime
