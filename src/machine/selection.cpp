#include "machine/selection.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include "alate/error.h"
#include "base/byte_text.h"
#include "base/nearest_name.h"
#include "formats/json.h"

namespace alate::machine {
namespace {

using backends::Device;
using backends::DeviceKind;

// The origin whose policy the client cannot choose.
constexpr std::string_view kRequest = "the request";

constexpr std::string_view kAutomatic = "the automatic order";
constexpr std::string_view kGpu = "the setting gpu";

// The automatic order: accelerators of these backends, then those of other backends, then processors.
constexpr std::array<std::string_view, 8> kAcceleratorOrder = {"cuda", "rocm", "metal",  "coreml",
                                                               "onnx", "xla",  "opencl", "webgpu"};
constexpr std::array<std::string_view, 3> kProcessorOrder = {"cpu", "onnx", "xla"};

bool is_accelerator(const Device& device) { return device.kind != DeviceKind::processor && !device.is_emulated; }

// Whether the setting `gpu` names this device.
bool is_meant(const Device& device, AcceleratorKind kind) {
  return device.name == to_string(kind) || device.backend == to_string(kind);
}

template <typename Range>
std::string listed(const Range& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

// An entry of the order of trial: a device, or a backend without a usable one.
struct Candidate {
  const BackendState* state = nullptr;
  const Device* device = nullptr;
  ConsideredBackend shown;
  ErrorCode code = ErrorCode::unavailable;
};

class Chooser {
 public:
  Chooser(const ModelNeeds& model, const Preferences& preferences, const Machine& machine,
          std::span<const FailedChoice> failed)
      : model_(model), preferences_(preferences), machine_(machine), failed_(failed) {}

  Consideration choose() {
    for (const BackendPlace& place : choice().places) add(place);
    const bool may_fall_back = choice().policy != BackendPolicy::strict || origin().places_are_wish;
    if (choice().places.empty() || may_fall_back) {
      add_automatic_order();
      // The model's requirement counts as a request, also for devices that are never chosen automatically.
      for (const BackendPlace& place : model_.backends) {
        const BackendState* state = machine_.find(place.backend());
        if (state != nullptr && state->is_available()) add_all(*state, "the model's manifest", true);
      }
    }
    if (!model_.file_extension.empty()) add_absent_readers();
    for (Candidate& candidate : candidates_) {
      if (candidate.shown.refusal.empty()) check(candidate);
    }
    const auto chosen = std::ranges::find_if(candidates_, [](const Candidate& c) { return c.shown.refusal.empty(); });
    if (chosen == candidates_.end()) {
      Consideration none{considered(), failure()};
      none.selection.reason = none.error->message();
      return none;
    }
    return {selection_of(*chosen)};
  }

 private:
  const BackendChoice& choice() const { return preferences_.choice; }
  const ChoiceOrigin& origin() const { return preferences_.origin; }

  void add(const BackendPlace& given) {
    if (given.is_automatic()) return add_automatic_order();
    const std::string& asked_device = given.device().empty() ? choice().device : given.device();
    const BackendState* state = machine_.find(given.backend());
    if (state == nullptr) {
      const bool is_elsewhere = std::ranges::find(names_elsewhere(), given.backend()) != names_elsewhere().end();
      if (!is_elsewhere && !origin().places_are_wish) throw_unknown(given.backend());
      refuse(BackendPlace(given.backend(), asked_device), nullptr,
             is_elsewhere ? "this build does not have it" : "no backend has this name", "");
      return;
    }
    const BackendPlace place(state->name, asked_device);
    if (!state->is_available()) {
      refuse(place, state, state->reason, state->remedy);
      return;
    }
    if (!place.device().empty()) return add_device(place, *state);
    add_all(*state, origin().places, false);
  }

  void add_device(const BackendPlace& place, const BackendState& state) {
    bool found = false;
    for (const Device& device : state.devices) {
      if (!is_called(device, place.device())) continue;
      found = true;
      add(state, device, origin().places, false);
    }
    if (found) return;
    std::set<std::string> names;
    for (const Device& device : state.devices) {
      if (!device.unusable) names.insert(device.name);
    }
    refuse(place, &state, "it has no device " + formats::quoted_name(place.device()),
           "its devices here are: " + listed(names));
  }

  // Adds all devices of a backend that was named without a device, the fastest first.
  void add_all(const BackendState& state, std::string_view named_by, bool automatic) {
    for (const bool accelerators : {true, false}) {
      for (const Device& device : state.devices) {
        if (is_accelerator(device) == accelerators) add(state, device, named_by, automatic);
      }
    }
  }

  void add_automatic_order() {
    std::vector<std::pair<const BackendState*, const Device*>> order;
    const auto take = [&](std::span<const std::string_view> names, bool accelerators) {
      const auto take_from = [&](const BackendState& state) {
        for (const Device& device : state.devices) {
          if (is_accelerator(device) == accelerators && !(device.is_emulated && accelerators))
            order.emplace_back(&state, &device);
        }
      };
      for (const std::string_view name : names) {
        if (const BackendState* state = machine_.find(name)) take_from(*state);
      }
      for (const BackendState& state : machine_.backends) {
        if (state.is_automatic && std::ranges::find(names, state.name) == names.end() &&
            std::ranges::find(kAcceleratorOrder, state.name) == kAcceleratorOrder.end() &&
            std::ranges::find(kProcessorOrder, state.name) == kProcessorOrder.end())
          take_from(state);
      }
    };
    take(kAcceleratorOrder, true);
    take(kProcessorOrder, false);
    std::ranges::stable_partition(order,
                                  [&](const auto& each) { return is_meant(*each.second, choice().accelerators); });
    const bool asks_for_gpu = is_gpu_named() && !origin().accelerators_are_wish;
    const bool has_gpu =
        std::ranges::any_of(order, [&](const auto& each) { return is_meant(*each.second, choice().accelerators); });
    const bool is_refused = std::ranges::any_of(
        candidates_, [](const Candidate& each) { return each.device == nullptr && each.shown.origin == kGpu; });
    if (asks_for_gpu && !has_gpu && !is_refused) {
      Candidate& none = refuse(BackendPlace(std::string(to_string(choice().accelerators))), nullptr,
                               "no backend here has such a device", "see `alate backends`");
      none.shown.origin = kGpu;
    }
    if (wants_device_alone()) {
      const auto others = std::ranges::stable_partition(
          order, [&](const auto& each) { return is_called(*each.second, choice().device); });
      if (others.size() == order.size())
        refuse(BackendPlace("auto", choice().device), nullptr, "no backend here has such a device",
               "see `alate backends`");
    }
    for (const auto& [state, device] : order) {
      const bool is_asked_for = asks_for_gpu && is_meant(*device, choice().accelerators);
      if (state->is_automatic && !device->is_emulated)
        add(*state, *device, is_asked_for ? kGpu : kAutomatic, !is_asked_for);
    }
  }

  // Backends that could run the model's file if their library were here: they have no devices to consider.
  void add_absent_readers() {
    for (const BackendState& state : machine_.backends) {
      const bool reads = std::ranges::find(state.reads_files, model_.file_extension) != state.reads_files.end();
      const bool is_listed =
          std::ranges::any_of(candidates_, [&](const Candidate& each) { return each.state == &state; });
      if (!reads || state.is_available() || is_listed) continue;
      Candidate& absent = refuse(BackendPlace(state.name), &state, state.reason, state.remedy);
      absent.shown.origin = "the model's " + model_.file_extension + " file";
      absent.shown.is_automatic = true;
    }
  }

  bool is_gpu_named() const {
    return choice().accelerators != AcceleratorKind::automatic && choice().accelerators != AcceleratorKind::off;
  }

  // Whether a device was requested without a backend: any backend that has it will do.
  bool wants_device_alone() const { return choice().places.empty() && !choice().device.empty(); }

  void add(const BackendState& state, const Device& device, std::string_view named_by, bool automatic) {
    const bool is_there =
        std::ranges::any_of(candidates_, [&](const Candidate& each) { return each.device == &device; });
    if (is_there) return;
    Candidate candidate;
    candidate.state = &state;
    candidate.device = &device;
    candidate.shown = {
        .backend = state.name, .device = device.name, .origin = std::string(named_by), .is_automatic = automatic};
    candidates_.push_back(std::move(candidate));
  }

  Candidate& refuse(const BackendPlace& place, const BackendState* state, std::string reason, std::string remedy) {
    Candidate candidate;
    candidate.state = state;
    candidate.shown = {.backend = place.backend(),
                       .device = place.device(),
                       .origin = origin().places,
                       .refusal = std::move(reason),
                       .remedy = std::move(remedy)};
    return candidates_.emplace_back(std::move(candidate));
  }

  void refuse(Candidate& candidate, ErrorCode code, std::string reason, std::string remedy = {}) const {
    candidate.code = code;
    candidate.shown.refusal = std::move(reason);
    candidate.shown.remedy = std::move(remedy);
  }

  void check(Candidate& candidate) const {
    const Device& device = *candidate.device;
    if (device.unusable) return refuse(candidate, ErrorCode::unavailable, *device.unusable, device.remedy);
    if (!allowed_by_manifest(*candidate.state))
      return refuse(candidate, ErrorCode::unavailable, "the model requires " + to_string(model_.backends));
    if (!model_.file_extension.empty() &&
        std::ranges::find(candidate.state->reads_files, model_.file_extension) == candidate.state->reads_files.end())
      return refuse(candidate, ErrorCode::unsupported, "it does not run " + model_.file_extension + " files");
    if (choice().accelerators == AcceleratorKind::off && device.kind != DeviceKind::processor)
      return refuse(candidate, ErrorCode::unavailable, "accelerators are off", "set gpu to auto");
    const bool only_meant =
        is_gpu_named() && !origin().accelerators_are_wish && choice().policy == BackendPolicy::strict;
    if (only_meant && !is_meant(device, choice().accelerators))
      return refuse(candidate, ErrorCode::unavailable,
                    "gpu is " + std::string(to_string(choice().accelerators)) + " and the policy strict",
                    "set gpu to auto, or the policy to warn");
    if (wants_device_alone() && choice().policy == BackendPolicy::strict && !is_called(device, choice().device))
      return refuse(candidate, ErrorCode::unavailable, "the device " + choice().device + " was asked for");
    if (device.is_emulated && !is_named(device))
      return refuse(candidate, ErrorCode::unavailable, "its device is a processor that poses as an accelerator",
                    "name the device too, as in " + device.backend + ":" + std::to_string(device.index));
    const auto failure = std::ranges::find_if(failed_, [&](const FailedChoice& each) {
      return each.backend == candidate.state->name && each.device_index == std::to_string(device.index);
    });
    if (failure != failed_.end()) return refuse(candidate, failure->code, failure->reason);
    if (model_.bytes > 0 && device.free_bytes > 0 && model_.bytes > device.free_bytes) {
      return refuse(candidate, ErrorCode::resource_exhausted,
                    "the model takes " + base::byte_text(model_.bytes) + " and " + base::byte_text(device.free_bytes) +
                        " of " + base::byte_text(device.total_bytes) + " are free",
                    "free memory, choose another device, or a smaller model");
    }
  }

  bool is_named(const Device& device) const {
    return std::ranges::any_of(choice().places, [&](const BackendPlace& place) {
      const std::string& name = place.device().empty() ? choice().device : place.device();
      const BackendState* state = machine_.find(place.backend());
      return state != nullptr && state->name == device.backend && !name.empty() && is_called(device, name);
    });
  }

  bool allowed_by_manifest(const BackendState& state) const {
    return model_.backends.empty() || std::ranges::any_of(model_.backends, [&](const BackendPlace& place) {
             return machine_.find(place.backend()) == &state;
           });
  }

  // Without a choice.
  Selection considered() const {
    Selection selection;
    selection.dtype = model_.dtype;
    selection.required_backends = model_.backends;
    for (const Candidate& candidate : candidates_) selection.considered.push_back(candidate.shown);
    return selection;
  }

  Selection selection_of(const Candidate& chosen) const {
    Selection selection = considered();
    selection.backend = chosen.state->name;
    selection.device = chosen.device->name;
    selection.device_index = std::to_string(chosen.device->index);
    selection.device_description = chosen.device->description;
    const std::string& by = chosen.shown.origin;
    selection.reason = chosen.shown.is_automatic ? "the first of the automatic order that can run the model"
                                                 : "the first that " + by + " names and that can run the model";
    return selection;
  }

  Error failure() const {
    std::string message = "no backend can run the model " + formats::quoted_name(model_.name) + ":";
    std::string remedies;
    std::set<std::string> said;
    for (const Candidate& candidate : candidates_) {
      const ConsideredBackend& shown = candidate.shown;
      message += (said.empty() ? " " : "; ") + shown.backend + (shown.device.empty() ? "" : ":") + shown.device + ": " +
                 shown.refusal;
      said.insert(shown.backend);
      if (!shown.remedy.empty() && remedies.find(shown.remedy) == std::string::npos)
        remedies += (remedies.empty() ? "" : "; ") + shown.remedy;
    }
    if (candidates_.empty()) message += " there is none";
    const bool is_strict = choice().policy == BackendPolicy::strict && !origin().places_are_wish;
    if (is_strict && !choice().places.empty() && origin().places != kRequest)
      remedies +=
          (remedies.empty() ? "" : "; ") + std::string("choose another one, or --policy warn to let one be chosen");
    for (const std::string& hint : missing_readers()) {
      if (remedies.find(hint) == std::string::npos) remedies += (remedies.empty() ? "" : "; ") + hint;
    }
    return make_error(common_code(), message, remedies.empty() ? "" : "; " + remedies);
  }

  // The commands that fetch a runtime for the model's file, where none that reads such files works here.
  std::vector<std::string> missing_readers() const {
    std::vector<std::string> hints;
    for (const BackendState& state : machine_.backends) {
      const bool reads = std::ranges::find(state.reads_files, model_.file_extension) != state.reads_files.end();
      if (!reads || model_.file_extension.empty()) continue;
      if (state.is_available()) return {};
      if (std::string hint = install_hint(state.name); !hint.empty()) hints.push_back(std::move(hint));
    }
    return hints;
  }

  // The error code that all refused devices share; unavailable where they differ.
  ErrorCode common_code() const {
    std::optional<ErrorCode> common;
    for (const Candidate& candidate : candidates_) {
      if (candidate.device == nullptr) continue;
      if (common && *common != candidate.code) return ErrorCode::unavailable;
      common = candidate.code;
    }
    return common.value_or(ErrorCode::unavailable);
  }

  [[noreturn]] void throw_unknown(const std::string& name) const {
    std::vector<std::string_view> known = {"auto"};
    for (const BackendState& state : machine_.backends) known.push_back(state.name);
    throw make_error(ErrorCode::invalid_argument, "no backend is called ", formats::quoted_name(name),
                     base::did_you_mean(name, known), "; this build has ", listed(known));
  }

  const ModelNeeds& model_;
  const Preferences& preferences_;
  const Machine& machine_;
  std::span<const FailedChoice> failed_;
  std::vector<Candidate> candidates_;
};

}  // namespace

Consideration consider(const ModelNeeds& model, const Preferences& preferences, const Machine& machine,
                       std::span<const FailedChoice> failed) {
  return Chooser(model, preferences, machine, failed).choose();
}

Selection select(const ModelNeeds& model, const Preferences& preferences, const Machine& machine,
                 std::span<const FailedChoice> failed) {
  Consideration result = consider(model, preferences, machine, failed);
  if (result.error) throw *result.error;
  return std::move(result.selection);
}

}  // namespace alate::machine
