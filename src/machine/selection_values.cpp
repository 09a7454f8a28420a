// What selection works on, and how its result is said.
#include <algorithm>
#include <array>

#include "machine/selection.h"

namespace alate::machine {
namespace {

bool is_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

const BackendState* Machine::find(std::string_view name) const {
  const auto found = std::ranges::find_if(backends, [&](const BackendState& state) {
    return state.name == name || std::ranges::find(state.aliases, name) != state.aliases.end();
  });
  return found == backends.end() ? nullptr : &*found;
}

bool is_called(const backends::Device& device, std::string_view name) {
  if (is_digits(name)) return std::to_string(device.index) == name;
  return device.name == name || (name == "gpu" && device.kind == backends::DeviceKind::gpu && !device.is_emulated);
}

std::span<const std::string_view> names_elsewhere() {
  static constexpr std::array<std::string_view, 6> kElsewhere = {"coreml", "cuda", "rocm", "metal", "opencl", "webgpu"};
  return kElsewhere;
}

std::string install_hint(std::string_view backend) {
  const bool is_packaged = backend == "onnx" || backend == "xla";
  return is_packaged ? "run `alate backends install " + std::string(backend == "xla" ? "xla-cpu" : "onnx") + "`"
                     : std::string();
}

bool concerns(const Preferences& preferences, const BackendState& backend, bool may_have_accelerators) {
  for (const BackendPlace& place : preferences.choice.places) {
    const std::string& name = place.backend();
    if (name == backend.name || std::ranges::find(backend.aliases, name) != backend.aliases.end()) return true;
  }
  if (!backend.is_automatic) return false;
  return backend.name == "cpu" || (may_have_accelerators && preferences.choice.accelerators != AcceleratorKind::off);
}

}  // namespace alate::machine

namespace alate {

std::string to_line(const Selection& selection, const std::string& model) {
  std::string line = "Loading model " + model + " with backend " + selection.backend;
  if (selection.device != "cpu") line += ":" + selection.device;
  if (!selection.required_backends.empty()) {
    line += " (model requires: [" + to_string(selection.required_backends) + "])";
  }
  std::string fallback;
  for (const ConsideredBackend& each : selection.considered) {
    if (each.refusal.empty()) break;
    if (each.is_automatic) continue;  // nobody is missing it
    fallback += (fallback.empty() ? "" : "; ") + each.backend + (each.device.empty() ? "" : ":") + each.device +
                " unavailable: " + each.refusal;
  }
  if (!fallback.empty()) line += " (fallback: " + fallback + ")";
  return line;
}

}  // namespace alate
