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

using machine::BackendSpec;
using machine::BackendState;
using machine::Machine;

// Of each name, first the backend, then the foreign runtimes' devices. The processor's own engine is always available.
constexpr std::array<std::string_view, 10> kOrder = {"cuda",          "onnx:cuda", "xla:cuda", "rocm",   "onnx:rocm",
                                                     "onnx:migraphx", "metal",     "opencl",   "webgpu", "cpu"};

bool is_processors_own(std::string_view choice) { return choice == "cpu"; }

// Foreign libraries are opened only where they are asked for by name, or the machine may have an accelerator.
Machine machine_for(const std::vector<std::string>& wanted) {
  const bool may_have_accelerators = base::may_have_accelerators();
  return machine::discover({.wants = [&](const BackendState& state) {
    return std::ranges::any_of(wanted, [&](const std::string& choice) {
      const std::string name = BackendSpec::parse(choice).backend;
      const bool is_this = name == state.name || std::ranges::find(state.aliases, name) != state.aliases.end();
      return is_this && (may_have_accelerators || std::ranges::find(kOrder, choice) == kOrder.end());
    });
  }});
}

Selection choose(std::string_view preference) {
  std::vector<std::string> wanted;
  if (preference != "auto") wanted.emplace_back(preference);
  wanted.insert(wanted.end(), kOrder.begin(), kOrder.end());
  machine::Preferences preferences;
  preferences.wanted = wanted;
  preferences.asked_by = "the kernels' order";
  preferences.policy = BackendPolicy::allow;
  return machine::select({.name = "kernels"}, preferences, machine_for(wanted));
}

std::string spec_of(const Selection& selection) {
  const bool says_nothing = selection.device == "cpu" || selection.device == selection.backend;
  return says_nothing ? selection.backend : selection.backend + ":" + selection.device;
}

std::string gigabytes(std::uint64_t bytes) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f GB", static_cast<double>(bytes) / 1e9);
  return text.data();
}

}  // namespace

std::shared_ptr<const KernelBackend> init_backend(std::string_view preference, const CpuKernelOptions& options) {
  const Selection chosen = choose(preference);
  if (preference != "auto" && !chosen.considered.empty() && !chosen.considered.front().refusal.empty()) {
    base::log(base::LogLevel::warn, "kernels fall back",
              {{"wanted", std::string(preference)},
               {"reason", chosen.considered.front().refusal},
               {"used", spec_of(chosen)}});
  }
  if (is_processors_own(chosen.backend)) return array::make_cpu_kernels(options);
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

std::string best_available_backend() { return spec_of(choose("auto")); }

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
  out << "Recommended: " << best_available_backend() << '\n';
}

}  // namespace alate
