#include "backends/registry.h"

#include <algorithm>
#include <array>
#include <string>

#include "alate/error.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/onnxruntime/onnx_backend.h"
#include "backends/reference/reference_backend.h"
#include "backends/xla/xla_backend.h"

namespace alate::backends {
namespace {

constexpr std::array<std::string_view, 3> kCpuAliases = {"go", "simplego", "native"};

constexpr std::array<std::string_view, 2> kOnnxAliases = {"onnxruntime", "ort"};
constexpr std::array<std::string_view, 1> kXlaAliases = {"pjrt"};

constexpr std::array kRegistrations = {
    Registration{"cpu", kCpuAliases, "Alate's own engine for processors", cpu::cpu_backend},
    Registration{"onnx", kOnnxAliases, "ONNX Runtime, where its library is found", onnxruntime::onnx_backend},
    Registration{"xla", kXlaAliases, "XLA, through any PJRT plugin: processors, GPUs, TPUs", xla::xla_backend},
    Registration{"reference",
                 {},
                 "Slow and plain loops in double: what every other backend is compared with",
                 reference_backend},
};

}  // namespace

std::span<const Registration> registrations() { return kRegistrations; }

Backend& get_backend(std::string_view name) {
  std::string names;
  for (const Registration& row : kRegistrations) {
    if (row.name == name || std::find(row.aliases.begin(), row.aliases.end(), name) != row.aliases.end())
      return row.get();
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  }
  throw make_error(ErrorCode::not_found, "no backend is called '", name, "': this build has ", names);
}

}  // namespace alate::backends
