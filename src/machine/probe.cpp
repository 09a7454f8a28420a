#include "machine/probe.h"

#include <algorithm>
#include <mutex>
#include <optional>

#include "alate/error.h"
#include "backends/host_buffers.h"
#include "backends/self_test.h"
#include "base/log.h"
#include "base/os/child_process.h"
#include "base/threads/mutex.h"
#include "formats/json.h"

namespace alate::machine {
namespace {

using backends::Device;
using backends::DeviceKind;
using formats::Json;

constexpr std::chrono::seconds kProbeLimit{60};  // drivers of large GPUs take their time
constexpr std::string_view kProcessor = "processor", kGpu = "gpu", kAccelerator = "accelerator";

struct ProbeProgram {
  base::Mutex mutex;
  std::filesystem::path program;
  std::vector<std::string> words;
};

ProbeProgram& probe_program() {
  static ProbeProgram program;
  return program;
}

std::string_view kind_text(DeviceKind kind) {
  return kind == DeviceKind::processor ? kProcessor : kind == DeviceKind::gpu ? kGpu : kAccelerator;
}

DeviceKind parse_kind(std::string_view text) {
  return text == kGpu ? DeviceKind::gpu : text == kAccelerator ? DeviceKind::accelerator : DeviceKind::processor;
}

bool is_host(const Device& device) { return device.kind == DeviceKind::processor && device.unified_memory; }

Json to_json(const Device& device) {
  Json::Object object = {{"backend", device.backend},
                         {"name", device.name},
                         {"index", device.index},
                         {"kind", kind_text(device.kind)},
                         {"is_emulated", device.is_emulated},
                         {"description", device.description},
                         {"version", device.version},
                         {"library", device.library},
                         {"driver", device.driver},
                         {"compute_capability", device.compute_capability},
                         {"unified_memory", device.unified_memory}};
  if (!is_host(device)) {
    object.emplace_back("total_bytes", std::uint64_t{device.total_bytes});
    object.emplace_back("free_bytes", std::uint64_t{device.free_bytes});
  }
  if (device.unusable) object.emplace_back("unusable", *device.unusable);
  if (!device.remedy.empty()) object.emplace_back("remedy", device.remedy);
  return object;
}

Device parse_device(const Json& json) {
  Device device;
  device.backend = json.get_string("backend", "");
  device.name = json.get_string("name", "");
  device.index = static_cast<int>(json.get_int("index", 0));
  device.kind = parse_kind(json.get_string("kind", kProcessor));
  device.is_emulated = json.get_bool("is_emulated", false);
  device.description = json.get_string("description", "");
  device.version = json.get_string("version", "");
  device.library = json.get_string("library", "");
  device.driver = json.get_string("driver", "");
  device.compute_capability = json.get_string("compute_capability", "");
  device.unified_memory = json.get_bool("unified_memory", false);
  device.total_bytes = static_cast<std::size_t>(std::max<std::int64_t>(json.get_int("total_bytes", 0), 0));
  device.free_bytes = static_cast<std::size_t>(std::max<std::int64_t>(json.get_int("free_bytes", 0), 0));
  if (const Json* reason = json.find("unusable")) device.unusable = reason->as_string("unusable");
  device.remedy = json.get_string("remedy", "");
  if (is_host(device)) {
    const Device host = backends::host_device(device.backend, device.description);
    device.total_bytes = host.total_bytes;
    device.free_bytes = host.free_bytes;
  }
  return device;
}

// The last line that a library wrote before it crashed, which often says why.
std::string last_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  constexpr std::size_t kMost = 200;
  const std::string_view line = text.substr(text.rfind('\n') + 1);
  std::string shown;
  for (const char c : line.substr(0, kMost)) shown += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  return shown;
}

Probe failed(std::string reason, std::string remedy) {
  return {.devices = {}, .reason = std::move(reason), .remedy = std::move(remedy)};
}

// Where no device is usable, the first one's reason is the backend's.
void settle(Probe& probe) {
  const bool usable = std::ranges::any_of(probe.devices, [](const Device& device) { return !device.unusable; });
  if (usable) return;
  probe.reason = probe.devices.empty() ? "it has no devices" : *probe.devices.front().unusable;
  probe.remedy = probe.devices.empty() ? "" : probe.devices.front().remedy;
}

}  // namespace

Probe probe_in_process(backends::Backend& backend, const std::filesystem::path& library) {
  Probe probe;
  try {
    if (!library.empty()) backend.use_library(library);
    probe.devices = backend.devices();
    for (Device& device : probe.devices) {
      if (device.library.empty()) device.library = library.string();
      if (device.unusable) continue;
      if (const std::string problem = backends::self_test(backend, device); !problem.empty()) {
        device.unusable = problem;
        device.remedy = "update its driver or library, or take another device";
      }
    }
  } catch (const std::exception& error) {
    return failed(error.what(), "install it anew");
  }
  settle(probe);
  return probe;
}

Probe probe_in_subprocess(backends::Backend& backend, const std::filesystem::path& library) {
  std::filesystem::path program;
  std::vector<std::string> words;
  {
    const std::lock_guard lock(probe_program().mutex);
    program = probe_program().program;
    words = probe_program().words;
  }
  if (program.empty()) return probe_in_process(backend, library);
  words.emplace_back(backend.name());
  words.push_back(library.string());
  constexpr std::string_view kRemedy = "install the library anew, or remove the file";
  try {
    const base::ChildResult result = base::run_child(program, words, kProbeLimit);
    if (result.exit_code == 0) return parse_probe(result.output, "what the probe of " + library.string() + " printed");
    const std::string said = last_line(result.complaints);
    return failed(library.string() + " went down while it was tried: " + result.ending +
                      (said.empty() ? "" : "; its last words: " + said),
                  std::string(kRemedy));
  } catch (const Error& error) {
    return failed(error.what(), std::string(kRemedy));
  }
}

std::string to_text(const Probe& probe) {
  Json::Array devices;
  for (const Device& device : probe.devices) devices.push_back(to_json(device));
  return formats::to_json_text(
      Json::Object{{"devices", std::move(devices)}, {"reason", probe.reason}, {"remedy", probe.remedy}});
}

Probe parse_probe(std::string_view text, std::string_view what) {
  Probe probe;
  const Json json =
      formats::parse_json(text, what, {.max_depth = 8, .max_bytes = std::size_t{1} << 20, .max_values = 65536});
  try {
    const Json* devices = json.find("devices");
    if (devices == nullptr) throw make_error(ErrorCode::corrupt, "there are no devices in it");
    for (const Json& device : devices->as_array("devices")) probe.devices.push_back(parse_device(device));
    probe.reason = json.get_string("reason", "");
    probe.remedy = json.get_string("remedy", "");
  } catch (const Error& error) {
    throw make_error(ErrorCode::corrupt, what, ": ", error.message());
  }
  return probe;
}

void set_probe_program(std::filesystem::path program, std::vector<std::string> words) {
  const std::lock_guard lock(probe_program().mutex);
  probe_program().program = std::move(program);
  probe_program().words = std::move(words);
}

}  // namespace alate::machine
