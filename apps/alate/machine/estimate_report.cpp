#include "apps/alate/machine/estimate_report.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "alate/memory.h"

namespace alate::app {
namespace {

using formats::Json;
using runtime::MemoryRequest;

std::string key_of(std::string name) {
  for (char& c : name) c = c == ' ' ? '_' : c == 'K' ? 'k' : c == 'V' ? 'v' : c;
  return name;
}

Json bytes_as_json(std::uint64_t bytes) { return Json::Object{{"bytes", bytes}, {"human", human_bytes(bytes)}}; }

std::string line(std::string_view name, std::string_view value) {
  std::string left(name);
  left.resize(std::max<std::size_t>(left.size() + 2, 20), ' ');
  return left + std::string(value) + "\n";
}

}  // namespace

std::string estimate_json(Estimate estimate) {
  Json::Object json = std::move(estimate.facts);
  bool has_cache = false;
  for (const MemoryRequest::Part& part : estimate.request.parts) {
    json.emplace_back(key_of(part.name), bytes_as_json(part.bytes));
    has_cache = has_cache || part.name == "KV cache";
  }
  if (!has_cache) json.emplace_back("kv_cache", bytes_as_json(0));
  json.emplace_back("total", bytes_as_json(estimate.request.bytes()));
  Json::Array devices;
  for (const Fit& fit : estimate.fits) {
    Json::Object device{{"backend", fit.device.backend},
                        {"device", fit.device.name},
                        {"needed_bytes", fit.bytes},
                        {"free_bytes", std::uint64_t{fit.device.free_bytes}},
                        {"total_bytes", std::uint64_t{fit.device.total_bytes}},
                        {"fits", !fit.refusal}};
    if (fit.refusal) device.emplace_back("reason", *fit.refusal);
    devices.emplace_back(std::move(device));
  }
  json.emplace_back("devices", std::move(devices));
  return formats::to_json_text(std::move(json)) + "\n";
}

std::string estimate_text(const Estimate& estimate) {
  std::string text = estimate.request.what + "\n";
  if (!estimate.note.empty()) text += estimate.note + "\n";
  const auto bytes_line = [](std::string_view name, std::uint64_t bytes) {
    return line(name, bytes < 1024 ? human_bytes(bytes) : human_bytes(bytes) + ", " + std::to_string(bytes) + " bytes");
  };
  for (const MemoryRequest::Part& part : estimate.request.parts) text += bytes_line(part.name, part.bytes);
  text += bytes_line("total", estimate.request.bytes());
  for (const Fit& fit : estimate.fits) {
    const std::string has = human_bytes(fit.device.free_bytes) + " free of " + human_bytes(fit.device.total_bytes);
    const std::string verdict = fit.refusal ? (fit.device.unusable ? "absent: " : "does not fit: ") + *fit.refusal
                                : fit.device.total_bytes == 0 ? "its memory is not known"
                                                              : "fits: " + human_bytes(fit.bytes) + ", " + has;
    text += line(fit.device.backend + (fit.device.name.empty() ? "" : ":" + fit.device.name), verdict);
  }
  return text;
}

}  // namespace alate::app
