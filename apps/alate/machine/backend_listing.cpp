#include "apps/alate/machine/backend_listing.h"

#include <algorithm>

#include "base/byte_text.h"

namespace alate::app {
namespace {

using backends::Device;
using machine::BackendState;

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(text.size() + 1, width), ' ');
  return text;
}

std::string memory_of(const Device& device) {
  if (device.total_bytes == 0) return "memory unknown";
  return base::byte_text(device.free_bytes) + " of " + base::byte_text(device.total_bytes) + " free" +
         (device.unified_memory ? ", shared with the processor" : "");
}

std::string facts_of(const Device& device) {
  std::string text = device.description;
  if (!device.version.empty() && device.description.find(device.version) == std::string::npos)
    text += ", " + device.version;
  if (!device.compute_capability.empty()) text += ", compute capability " + device.compute_capability;
  if (!device.driver.empty()) text += ", driver " + device.driver;
  if (device.is_emulated) text += ", a processor posing as an accelerator";
  return text;
}

constexpr std::size_t kIndent = 12;

std::string line(std::string_view name, std::string_view text) {
  return "  " + padded(std::string(name), kIndent - 2) + std::string(text) + "\n";
}

std::string listing_of(const BackendState& state) {
  std::string names;
  for (const std::string& alias : state.aliases) names += (names.empty() ? "" : ", ") + alias;
  const bool available = state.is_probed && state.is_available();
  std::string text = padded(state.name, kIndent) + (available ? "available: " : "not available: ") + state.sentence +
                     (names.empty() ? "" : " (also called " + names + ")") + "\n";
  if (!available) {
    text += line("reason", state.reason);
    if (!state.remedy.empty()) text += line("fix", state.remedy);
  }
  std::string library;
  for (const Device& device : state.devices) {
    if (device.unusable) {
      if (!available && *device.unusable == state.reason) continue;
      text += line(device.name, "not usable: " + *device.unusable);
      if (!device.remedy.empty()) text += line("", "fix: " + device.remedy);
      continue;
    }
    text += line(device.name, facts_of(device) + "; " + memory_of(device));
    if (!device.library.empty() && device.library != library) text += line("library", library = device.library);
  }
  return text;
}

}  // namespace

std::string backend_listing(const machine::Machine& machine) {
  std::string text;
  for (const BackendState& state : machine.backends) text += listing_of(state);
  std::string elsewhere;
  for (const std::string_view name : machine::names_elsewhere()) {
    if (machine.find(name) == nullptr) elsewhere += (elsewhere.empty() ? "" : ", ") + std::string(name);
  }
  if (!elsewhere.empty()) text += "Not in this build: " + elsewhere + "\n";
  return text;
}

std::string selection_listing(const Selection& selection) {
  const bool is_made = !selection.backend.empty();
  std::string text =
      line("chosen", is_made ? selection.backend + ":" + selection.device + ", " + selection.device_description
                             : "none: the model cannot run here");
  text += line("because", (is_made ? "it is " : "") + selection.reason);
  if (is_made) text += line("dtype", selection.dtype);
  if (!selection.required_backends.empty()) {
    text += line("manifest", "wants " + to_string(selection.required_backends));
  }
  std::size_t rank = 0;
  bool is_chosen_past = false;
  for (const ConsideredBackend& each : selection.considered) {
    const std::string name = each.backend + (each.device.empty() ? "" : ":" + each.device);
    std::string verdict = !each.refusal.empty() ? "no: " + each.refusal
                          : !is_made            ? "could run such a model"
                          : is_chosen_past      ? "possible, would be next"
                                                : "yes";
    is_chosen_past = is_chosen_past || each.refusal.empty();
    if (!each.remedy.empty()) verdict += " (" + each.remedy + ")";
    text += line(std::to_string(++rank) + ". " + name, verdict + "; asked for by " + each.origin);
  }
  return text;
}

}  // namespace alate::app
