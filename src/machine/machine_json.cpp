#include "machine/machine_json.h"

namespace alate::machine {
namespace {

using backends::Device;
using backends::DeviceKind;
using formats::Json;

template <typename Range>
Json list(const Range& texts) {
  Json::Array array;
  for (const auto& text : texts) array.emplace_back(std::string_view(text));
  return array;
}

void add_text(Json::Object& object, std::string_view key, const std::string& text) {
  if (!text.empty()) object.emplace_back(key, text);
}

Json to_json(const Device& device) {
  Json::Object object = {{"name", device.name},
                         {"index", device.index},
                         {"kind", device.kind == DeviceKind::processor ? "processor"
                                  : device.kind == DeviceKind::gpu     ? "gpu"
                                                                       : "accelerator"},
                         {"description", device.description},
                         {"usable", !device.unusable.has_value()}};
  if (device.unusable) object.emplace_back("reason", *device.unusable);
  add_text(object, "remedy", device.remedy);
  if (device.is_emulated) object.emplace_back("emulated", true);
  if (device.total_bytes > 0) {
    object.emplace_back("total_bytes", std::uint64_t{device.total_bytes});
    object.emplace_back("free_bytes", std::uint64_t{device.free_bytes});
  }
  object.emplace_back("unified_memory", device.unified_memory);
  add_text(object, "version", device.version);
  add_text(object, "library", device.library);
  add_text(object, "driver", device.driver);
  add_text(object, "compute_capability", device.compute_capability);
  return object;
}

Json to_json(const BackendState& state) {
  Json::Array devices;
  for (const Device& device : state.devices) devices.push_back(to_json(device));
  Json::Object object = {{"name", state.name},
                         {"aliases", list(state.aliases)},
                         {"description", state.sentence},
                         {"available", state.is_probed && state.is_available()}};
  add_text(object, "reason", state.reason);
  if (!state.is_available()) add_text(object, "remedy", state.remedy);
  object.emplace_back("devices", std::move(devices));
  return object;
}

}  // namespace

Json to_json(const Machine& machine) {
  Json::Array backends;
  for (const BackendState& state : machine.backends) backends.push_back(to_json(state));
  Json::Array elsewhere;
  for (const std::string_view name : names_elsewhere()) {
    if (machine.find(name) == nullptr) elsewhere.emplace_back(name);
  }
  return Json::Object{{"backends", std::move(backends)}, {"elsewhere", std::move(elsewhere)}};
}

Json to_json(const Selection& selection) {
  Json::Array considered;
  for (const ConsideredBackend& each : selection.considered) {
    Json::Object object = {{"backend", each.backend}};
    add_text(object, "device", each.device);
    object.emplace_back("asked_by", each.origin);
    object.emplace_back("possible", each.refusal.empty());
    add_text(object, "reason", each.refusal);
    add_text(object, "remedy", each.remedy);
    considered.emplace_back(std::move(object));
  }
  Json::Object object = {{"backend", selection.backend},
                         {"device", selection.device},
                         {"device_description", selection.device_description},
                         {"dtype", selection.dtype},
                         {"reason", selection.reason}};
  if (selection.backend.empty())
    object = {{"backend", Json()}, {"dtype", selection.dtype}, {"reason", selection.reason}};
  if (!selection.required_backends.empty()) {
    Json::Array required;
    for (const BackendPlace& place : selection.required_backends) required.emplace_back(to_string(place));
    object.emplace_back("required_backends", std::move(required));
  }
  object.emplace_back("considered", std::move(considered));
  return object;
}

}  // namespace alate::machine
