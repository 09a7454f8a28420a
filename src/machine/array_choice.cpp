#include "machine/array_choice.h"

#include <algorithm>
#include <vector>

#include "machine/selection.h"

namespace alate::machine {
namespace {

std::vector<BackendPlace> places_of(ArrayBackend backend) {
  switch (backend) {
    case ArrayBackend::metal: return {BackendPlace("metal")};
    case ArrayBackend::cuda: return {BackendPlace("cuda"), BackendPlace::onnx("cuda"), BackendPlace::xla("cuda")};
    case ArrayBackend::onnx: return {BackendPlace::onnx()};
    default: return {BackendPlace::cpu()};
  }
}

// `wanted`, then the rest of the automatic order.
std::vector<ArrayBackend> order_of(ArrayBackend wanted, bool is_windows) {
  std::vector<ArrayBackend> order = {wanted};
  for (const ArrayBackend backend : {ArrayBackend::metal, ArrayBackend::cuda, ArrayBackend::onnx, ArrayBackend::cpu}) {
    if (backend != wanted && (backend != ArrayBackend::onnx || is_windows)) order.push_back(backend);
  }
  if (wanted == ArrayBackend::automatic) order.erase(order.begin());
  return order;
}

// Without a device whose name says nothing more than the backend's.
BackendPlace shortest(const std::string& backend, const std::string& device) {
  return BackendPlace(backend, device == "cpu" || device == backend ? std::string() : device);
}

ArrayDevice device_of(ArrayBackend backend, const Selection& selection, const Machine& machine) {
  ArrayDevice device{.backend = backend,
                     .index = 0,
                     .name = selection.device_description,
                     .memory = 0,
                     .place = shortest(selection.backend, selection.device)};
  for (const backends::Device& each : machine.find(selection.backend)->devices) {
    if (std::to_string(each.index) != selection.device_index) continue;
    device.index = each.index;
    device.memory = each.total_bytes;
    // ONNX Runtime is shown as the runtime, whatever its device.
    if (backend == ArrayBackend::onnx && !each.version.empty()) device.name = each.version;
  }
  return device;
}

}  // namespace

ArrayChoice choose_arrays(ArrayBackend wanted, const Machine& machine, bool is_windows) {
  ArrayChoice choice;
  for (const ArrayBackend backend : order_of(wanted, is_windows)) {
    Preferences preferences;
    preferences.choice.places = places_of(backend);
    preferences.choice.policy = BackendPolicy::allow;
    preferences.origin.places_are_wish = true;  // unknown names are not an error
    const Selection selection = select({.name = "arrays"}, preferences, machine);
    bool is_had = false;
    for (const ConsideredBackend& each : selection.considered) {
      is_had = each.refusal.empty() && !each.is_automatic;
      if (is_had || each.is_automatic) break;
      if (backend != wanted) continue;
      choice.refusals +=
          (choice.refusals.empty() ? "" : "; ") + to_string(shortest(each.backend, each.device)) + ": " + each.refusal;
    }
    // The processor is last in the order: the selection is used, whatever it is.
    if (!is_had && backend != ArrayBackend::cpu) continue;
    choice.device = device_of(backend, selection, machine);
    choice.is_wanted = wanted == ArrayBackend::automatic || wanted == backend;
    return choice;
  }
  return choice;  // the order ends with the processor
}

bool concerns_arrays(ArrayBackend wanted, const BackendState& backend, bool may_have_accelerators, bool is_windows) {
  if (backend.name == "onnx" && (wanted == ArrayBackend::onnx || is_windows)) return true;
  if (!may_have_accelerators && wanted != ArrayBackend::cuda) return false;
  const std::vector<ArrayBackend> order = order_of(wanted, is_windows);
  return std::ranges::any_of(order, [&](ArrayBackend each) {
    const std::vector<BackendPlace> places = places_of(each);
    return std::ranges::any_of(places, [&](const BackendPlace& place) { return place.backend() == backend.name; });
  });
}

}  // namespace alate::machine
