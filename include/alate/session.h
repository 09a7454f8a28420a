// The library user's view of backends: choosing one, loading models on it, and sharing loaded models.
#pragma once

#include <chrono>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alate/embedding.h"
#include "alate/model.h"

namespace alate {

/// A backend by name, available or not. Cheap to copy; thread-safe.
class InferenceBackend {
 public:
  explicit InferenceBackend(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  /// Opens the backend's library in a child process, unless that has been done before.
  bool is_available() const;
  /// Why it is unavailable, and what to do; empty when it is available.
  std::string unavailable_reason() const;
  /// Loads the model on this backend, never on another one. Throws as Model::load.
  Model load(const std::filesystem::path& path, LoadOptions options = {}, const RunControl& control = {}) const;

 private:
  std::string name_;
};

/// The backend that runs a model when no backend is requested.
InferenceBackend get_default_backend();
/// Finds a backend by name or alias. Throws not_found, listing the known ones.
InferenceBackend get_inference_backend(std::string_view name);
/// The backends that are usable here, in registry order.
std::vector<InferenceBackend> list_available_backends();

/// Options of feature extraction; absent ones are as the model's folder says.
struct FeatureExtractionOptions {
  LoadOptions load = {};
  std::optional<std::size_t> max_length = {};  // in tokens, with special tokens
  std::optional<bool> normalization = {};
  std::optional<std::string> pooling = {};  // as LoadOptions::pooling
  std::size_t batch_size = 0;               // maximum texts per batch; 0: as many as fit
};

/// Feature extraction from texts or raw tensors. Immutable; thread-safe; copies share the model.
class FeatureExtraction {
 public:
  /// Throws as EmbeddingPipeline::load, and invalid_argument for an unknown pooling.
  static FeatureExtraction load(const std::filesystem::path& path, const FeatureExtractionOptions& options = {},
                                const RunControl& control = {});

  /// Row i of the vectors belongs to text i.
  Embeddings extract(std::span<const std::string> texts, const RunControl& control = {}) const;
  Embeddings extract(std::span<const std::string_view> texts, const RunControl& control = {}) const;
  Embeddings extract(std::initializer_list<std::string_view> texts, const RunControl& control = {}) const {
    return extract(std::span<const std::string_view>(texts.begin(), texts.size()), control);
  }
  Embeddings extract(std::string_view text, const RunControl& control = {}) const {
    return extract(std::span<const std::string_view>(&text, 1), control);
  }
  /// As Model::forward: "last_hidden_state" and any other outputs of the model.
  NamedTensors forward(const NamedTensors& inputs, const RunControl& control = {}) const {
    return pipeline_.model().forward(inputs, control);
  }
  const EmbeddingPipeline& pipeline() const { return pipeline_; }
  const std::string& backend() const { return pipeline_.facts().backend; }

 private:
  FeatureExtraction(EmbeddingPipeline pipeline, EmbedOptions options)
      : pipeline_(std::move(pipeline)), options_(std::move(options)) {}

  EmbeddingPipeline pipeline_;
  EmbedOptions options_;
};

/// A model of a session manager, and the device it runs on. Holding it keeps the model loaded.
struct SessionModel {
  Model model;
  std::string backend;  // "onnx"
  std::string device;   // "cpu"
};

/// A backend's device, and how many models are loaded there.
struct SessionFacts {
  std::string backend, device;
  std::size_t models = 0;  // loaded there
};

/// Loads each model once for all its callers, trying backends in its own priority order. Thread-safe.
class SessionManager {
 public:
  SessionManager();
  ~SessionManager();
  SessionManager(const SessionManager&) = delete;
  SessionManager& operator=(const SessionManager&) = delete;

  /// First choice first, for later loads that name no backends themselves; empty: the automatic order.
  /// Throws invalid_argument for an unknown backend name.
  void set_priority(std::vector<BackendPlace> priority);
  std::vector<BackendPlace> priority() const;

  /// The model, loaded at the first call with this path and these options; concurrent calls wait for that one load,
  /// while other models load in parallel. `supported` has the backends that may run it, on any device; empty: any.
  /// Throws as Model::load; the next call retries a failed load.
  SessionModel load_model(const std::filesystem::path& path, const std::vector<BackendPlace>& supported = {},
                          LoadOptions options = {}, const RunControl& control = {});

  /// Forgets the model (all loads of that path), and waits until nobody holds it. Returns false if it is still held
  /// after `limit`; its memory is freed when the last holder releases it. The caller must not hold it.
  bool unload(const std::filesystem::path& path, std::chrono::nanoseconds limit = std::chrono::seconds(60));

  /// The existing sessions. A session is created when its first model is loaded.
  std::vector<SessionFacts> sessions() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace alate
