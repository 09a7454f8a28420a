#include "alate/inference_backend.h"

#include "alate/error.h"
#include "backends/registry.h"
#include "machine/discovery.h"
#include "runtime/loading/loaded_model.h"

namespace alate {
namespace {

machine::BackendState state_of(const std::string& name) {
  const machine::Machine machine =
      machine::discover({.wants = [&](const machine::BackendState& state) { return state.name == name; }});
  const machine::BackendState* state = machine.find(name);
  if (state == nullptr) throw make_error(ErrorCode::not_found, "no backend is called ", name);
  return *state;
}

}  // namespace

bool InferenceBackend::is_available() const { return state_of(name_).is_available(); }

std::string InferenceBackend::unavailable_reason() const {
  const machine::BackendState state = state_of(name_);
  return state.reason + (state.reason.empty() || state.remedy.empty() ? "" : "; " + state.remedy);
}

Model InferenceBackend::load(const std::filesystem::path& path, LoadOptions options, const RunControl& control) const {
  options.backend.places = {BackendPlace(name_)};
  options.backend.policy = BackendPolicy::strict;
  return runtime::load_model(path, {std::move(options), {.places = "the backend's load"}}, control);
}

InferenceBackend get_default_backend() { return InferenceBackend(machine::default_backend()); }

InferenceBackend get_inference_backend(std::string_view name) {
  return InferenceBackend(std::string(backends::get_backend(name).name()));
}

std::vector<InferenceBackend> list_available_backends() {
  std::vector<InferenceBackend> all;
  for (std::string& name : machine::list_available()) all.emplace_back(std::move(name));
  return all;
}

}  // namespace alate
