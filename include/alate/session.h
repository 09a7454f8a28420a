// Loaded models that are shared by all who ask for them.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "alate/backend_choice.h"
#include "alate/model.h"
#include "alate/run_control.h"

namespace alate {

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
