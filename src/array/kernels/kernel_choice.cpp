// The choice of the backend for the kernel interface.
#include <algorithm>
#include <array>
#include <cstdio>
#include <ostream>

#include "alate/error.h"
#include "alate/kernels.h"
#include "array/kernels/kernel_backends.h"
#include "backends/registry.h"
#include "base/hardware/accelerator_hints.h"
#include "base/log.h"
#include "machine/discovery.h"

namespace alate {
namespace {

using machine::BackendState;
using machine::Machine;

// Of each name, first the backend, then the foreign runtimes' devices. The processor's own engine is always available.
constexpr std::array<std::string_view, 10> kOrder = {"cuda",          "onnx:cuda", "xla:cuda", "rocm",   "onnx:rocm",
                                                     "onnx:migraphx", "metal",     "opencl",   "webgpu", "cpu"};

// Foreign libraries are opened only where they are asked for by name, or the machine may have an accelerator.
Machine machine_for(const std::vector<BackendPlace>& wanted) {
  const bool may_have_accelerators = base::may_have_accelerators();
  return machine::discover({.wants = [&](const BackendState& state) {
    return std::ranges::any_of(wanted, [&](const BackendPlace& place) {
      const std::string& name = place.backend();
      const bool is_this = name == state.name || std::ranges::find(state.aliases, name) != state.aliases.end();
      return is_this && (may_have_accelerators || std::ranges::find(kOrder, to_string(place)) == kOrder.end());
    });
  }});
}

Selection choose(const BackendPlace& preference) {
  std::vector<BackendPlace> wanted;
  if (!preference.is_automatic()) wanted.push_back(preference);
  for (const std::string_view text : kOrder) wanted.push_back(BackendPlace::parse(text));
  machine::Preferences preferences;
  preferences.choice.places = wanted;
  preferences.origin.places = "the kernels' order";
  preferences.choice.policy = BackendPolicy::allow;
  return machine::select({.name = "kernels"}, preferences, machine_for(wanted));
}

BackendPlace place_of(const Selection& selection) {
  const bool says_nothing = selection.device == "cpu" || selection.device == selection.backend;
  return BackendPlace(selection.backend, says_nothing ? std::string() : selection.device);
}

std::string gigabytes(std::uint64_t bytes) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f GB", static_cast<double>(bytes) / 1e9);
  return text.data();
}

}  // namespace

std::shared_ptr<const KernelBackend> init_backend(const BackendPlace& preference, const CpuKernelOptions& options) {
  const Selection chosen = choose(preference);
  if (!preference.is_automatic() && !chosen.considered.empty() && !chosen.considered.front().refusal.empty()) {
    base::log(base::LogLevel::warn, "kernels fall back",
              {{"wanted", to_string(preference)},
               {"reason", chosen.considered.front().refusal},
               {"used", to_string(place_of(chosen))}},
              "kernels fall back to " + to_string(place_of(chosen)) + ", since " + to_string(preference) +
                  " cannot be used: " + chosen.considered.front().refusal);
  }
  if (chosen.backend == "cpu") return array::make_cpu_kernels(options);
  backends::Backend& backend = backends::get_backend(chosen.backend);
  for (const backends::Device& device : backend.devices()) {
    if (std::to_string(device.index) == chosen.device_index) return array::make_graph_kernels(backend, device);
  }
  throw make_error(ErrorCode::unavailable, "backend ", chosen.backend, " no longer has its device ", chosen.device,
                   ": try again");
}

std::vector<BackendInfo> discover_backends() {
  std::vector<BackendInfo> all;
  for (const BackendState& state : machine::discover().backends) {
    BackendInfo info{.name = state.name, .available = state.is_available(), .devices = {}, .error = state.reason};
    if (!info.error.empty() && !state.remedy.empty()) info.error += ": " + state.remedy;
    for (const backends::Device& device : state.devices) {
      if (device.unusable) continue;
      DeviceInfo shown{.index = static_cast<std::size_t>(device.index),
                       .name = device.description,
                       .total_memory = device.total_bytes,
                       .free_memory = std::nullopt,
                       .compute_capability = std::nullopt,
                       .unified_memory = device.unified_memory};
      if (device.total_bytes != 0) shown.free_memory = device.free_bytes;
      if (!device.compute_capability.empty()) shown.compute_capability = device.compute_capability;
      info.devices.push_back(std::move(shown));
    }
    all.push_back(std::move(info));
  }
  return all;
}

BackendPlace best_available_backend() { return place_of(choose(BackendPlace::automatic())); }

void print_backend_summary(std::ostream& out) {
  for (const BackendInfo& backend : discover_backends()) {
    out << (backend.available ? "+ " : "- ") << backend.name << '\n';
    for (const DeviceInfo& device : backend.devices) {
      out << "    [" << device.index << "] " << device.name << ": " << gigabytes(device.total_memory);
      if (device.free_memory) out << " (" << gigabytes(*device.free_memory) << " free)";
      if (device.compute_capability) out << ", compute capability " << *device.compute_capability;
      if (device.unified_memory) out << ", memory of the host";
      out << '\n';
    }
    if (!backend.available) out << "    " << backend.error << '\n';
  }
  out << "Recommended: " << to_string(best_available_backend()) << '\n';
}

}  // namespace alate
