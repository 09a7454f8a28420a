#include "runtime/backend_choice.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <vector>

#include "alate/error.h"
#include "backends/registry.h"
#include "base/log.h"
#include "formats/json.h"

namespace alate::runtime {
namespace {

constexpr std::string_view kDefault = "cpu";

// Backends that other builds of Alate have, by their names and aliases.
constexpr std::array<std::string_view, 11> kElsewhere = {"onnx", "onnxruntime", "ort",   "xla",    "pjrt",  "coreml",
                                                         "cuda", "rocm",        "metal", "opencl", "webgpu"};

const backends::Registration* find_backend(std::string_view name) {
  for (const backends::Registration& row : backends::registrations()) {
    if (row.name == name || std::ranges::find(row.aliases, name) != row.aliases.end()) return &row;
  }
  return nullptr;
}

// Why the backend cannot be used with that device; empty when it can.
std::string refusal(const backends::Registration& row, std::string_view device) {
  if (device.empty()) return {};
  int index = -1;
  const auto [end, problem] = std::from_chars(device.data(), device.data() + device.size(), index);
  const bool is_number = problem == std::errc() && end == device.data() + device.size();
  for (const backends::Device& each : row.get().devices()) {
    if (is_number ? each.index != index : each.backend != device) continue;
    return each.unusable.value_or("");
  }
  return "it has no such device";
}

}  // namespace

std::string choose_backend(std::span<const std::string> wanted, const std::string& device, BackendPolicy policy) {
  for (const std::string& choice : wanted) {
    const std::size_t colon = std::min(choice.find(':'), choice.size());
    const std::string name = choice.substr(0, colon);
    const std::string place = colon < choice.size() ? choice.substr(colon + 1) : device;
    if (name == "auto") return std::string(kDefault);
    std::string reason;
    if (const auto* row = find_backend(name)) {
      reason = refusal(*row, place);
      if (reason.empty()) return std::string(row->name);
    } else if (std::ranges::find(kElsewhere, name) != kElsewhere.end()) {
      reason = "this build does not have it";
    } else {
      std::string names;
      for (const auto& each : backends::registrations()) names += ", " + std::string(each.name);
      throw make_error(ErrorCode::invalid_argument, "no backend is called ", formats::quoted_name(name),
                       "; this build has auto", names);
    }
    if (policy == BackendPolicy::strict)
      throw make_error(ErrorCode::unavailable, "backend ", choice, ": ", reason,
                       "; choose another one, or --policy warn to let one be chosen");
    if (policy == BackendPolicy::warn)
      base::log(base::LogLevel::warn, "backend passed over", {{"backend", choice}, {"reason", reason}});
  }
  return std::string(kDefault);
}

}  // namespace alate::runtime
