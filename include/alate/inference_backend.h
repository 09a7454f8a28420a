// Backends by name: whether they are available, and loading on one of them, as in Termite.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/model.h"
#include "alate/run_control.h"

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

}  // namespace alate
