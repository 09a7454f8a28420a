// Backends as a library's user meets them: choose one, load a model on it, share what is loaded.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alate/embedding.h"
#include "alate/model.h"

namespace alate {

/// A backend by name, here or not. Cheap to copy; thread-safe.
class InferenceBackend {
 public:
  explicit InferenceBackend(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  /// Opens the backend's library in a process of its own, where that has not been done before.
  bool is_available() const;
  /// Why it is not, and what to do; empty when it is.
  std::string unavailable_reason() const;
  /// The model on this backend, never on another one. Throws as Model::load.
  Model load(const std::filesystem::path& path, LoadOptions options = {}) const;

 private:
  std::string name_;
};

/// The backend that runs a model where nothing else is asked for.
InferenceBackend get_default_backend();
/// By name or alias. Throws not_found, saying which there are.
InferenceBackend get_inference_backend(std::string_view name);
/// Those that can be used here, in the registry's order.
std::vector<InferenceBackend> list_available_backends();

/// How texts become vectors; what is absent is as the model's folder says.
struct FeatureExtractionOptions {
  LoadOptions load = {};
  std::optional<std::size_t> max_length = {};  // in tokens, with specials
  std::optional<bool> normalization = {};
  std::optional<std::string> pooling = {};  // as LoadOptions::pooling
  std::size_t batch_size = 0;               // most texts of one batch; 0: as many as fit
};

/// Texts, or raw tensors, to features. Immutable; thread-safe; copies share the model.
class FeatureExtraction {
 public:
  /// Throws as EmbeddingPipeline::load, and invalid_argument for a pooling that there is not.
  static FeatureExtraction load(const std::filesystem::path& path, const FeatureExtractionOptions& options = {});

  /// Row i of the vectors is text i.
  Embeddings extract(std::span<const std::string> texts, const CallOptions& call = {}) const;
  /// As Model::forward: "last_hidden_state" and what the model gives beside it.
  NamedTensors forward(const NamedTensors& inputs, const CallOptions& call = {}) const {
    return pipeline_.model().forward(inputs, call);
  }
  const EmbeddingPipeline& pipeline() const { return pipeline_; }
  const std::string& backend() const { return pipeline_.facts().backend; }

 private:
  FeatureExtraction(EmbeddingPipeline pipeline, EmbedOptions options)
      : pipeline_(std::move(pipeline)), options_(std::move(options)) {}

  EmbeddingPipeline pipeline_;
  EmbedOptions options_;
};

/// A model of a session manager, and what it runs on. Holding it keeps the model loaded.
struct SessionModel {
  Model model;
  std::string backend;  // "onnx"
  std::string device;   // "cpu"
};

/// A backend's device that models run on.
struct SessionFacts {
  std::string backend, device;
  std::size_t models = 0;  // that are loaded there
};

/// Loads each model once for all who ask, in the order of its own priority. Thread-safe; threads may share one.
class SessionManager {
 public:
  SessionManager();
  ~SessionManager();
  SessionManager(const SessionManager&) = delete;
  SessionManager& operator=(const SessionManager&) = delete;

  /// NAME[:DEVICE], first choice first, for loads from now on that name no backends themselves; empty: the automatic
  /// order. Throws invalid_argument for a name that no backend has.
  void set_priority(std::vector<std::string> priority);
  std::vector<std::string> priority() const;

  /// The model, loaded at the first call with this path and these options; calls meanwhile wait for that one load, and
  /// loads of other models go on beside it. `supported` names the backends that may run it; empty: any. Throws as
  /// Model::load; a load that failed is tried again by the next call.
  SessionModel load_model(const std::filesystem::path& path, const std::vector<std::string>& supported = {},
                          LoadOptions options = {});

  /// Forgets the model (all loads of that path), and waits until nobody holds it. False where somebody still does after
  /// `limit`: its memory is given back when they let go. Who calls it must not hold it.
  bool unload(const std::filesystem::path& path, std::chrono::nanoseconds limit = std::chrono::seconds(60));

  /// The sessions there are: made when the first model came to them.
  std::vector<SessionFacts> sessions() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace alate
