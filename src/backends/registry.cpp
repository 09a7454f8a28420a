#include "backends/registry.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "alate/error.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/onnxruntime/onnx_backend.h"
#include "backends/plugin/plugin_registrations.h"
#include "backends/reference/reference_backend.h"
#include "backends/xla/xla_backend.h"

namespace alate::backends {
namespace {

constexpr std::array<std::string_view, 3> kCpuAliases = {"go", "simplego", "native"};

constexpr std::array<std::string_view, 2> kOnnxAliases = {"onnxruntime", "ort"};
constexpr std::array<std::string_view, 1> kXlaAliases = {"pjrt"};

std::vector<Registration> all_registrations() {
  std::vector<Registration> rows = {
      {"cpu", kCpuAliases, "Alate's own engine for processors", cpu::cpu_backend},
      {"onnx", kOnnxAliases, "ONNX Runtime, where its library is found", onnxruntime::onnx_backend},
      {"xla", kXlaAliases, "XLA, through any PJRT plugin: processors, GPUs, TPUs", xla::xla_backend},
      {"reference", {}, "Slow and plain loops in double: what every other backend is compared with", reference_backend},
  };
  const std::span<const Registration> found = plugin::plugin_registrations(rows);
  rows.insert(rows.end(), found.begin(), found.end());
  return rows;
}

}  // namespace

std::span<const Registration> registrations() {
  static const std::vector<Registration> rows = all_registrations();
  return rows;
}

std::span<const std::string> refused_registrations() {
  registrations();
  return plugin::refused_plugins();
}

const Registration* find_registration(std::string_view name) {
  for (const Registration& row : registrations()) {
    if (row.name == name || std::find(row.aliases.begin(), row.aliases.end(), name) != row.aliases.end()) return &row;
  }
  const std::string_view of_alias = plugin::find_plugin_by_alias(name);
  return of_alias.empty() ? nullptr : find_registration(of_alias);
}

Backend& get_backend(std::string_view name) {
  if (const Registration* row = find_registration(name)) return row->get();
  std::string names;
  for (const Registration& row : registrations()) names += (names.empty() ? "" : ", ") + std::string(row.name);
  throw make_error(ErrorCode::not_found, "no backend is called '", name, "': there are ", names);
}

}  // namespace alate::backends
