#include "alate/context.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <mutex>
#include <utility>

#include "alate/error.h"
#include "alate/version.h"
#include "base/hardware/accelerator_hints.h"
#include "base/log.h"
#include "base/os/environment.h"
#include "base/threads/mutex.h"
#include "formats/json.h"
#include "machine/array_choice.h"
#include "machine/discovery.h"

namespace alate {
namespace {

using machine::ArrayChoice;
using machine::BackendState;
using machine::Machine;

constexpr std::array<std::pair<ArrayBackend, std::string_view>, 5> kNames = {{{ArrayBackend::cpu, "CPU"},
                                                                              {ArrayBackend::metal, "Metal"},
                                                                              {ArrayBackend::cuda, "CUDA"},
                                                                              {ArrayBackend::onnx, "ONNX"},
                                                                              {ArrayBackend::automatic, "Auto"}}};

constexpr bool kIsWindows = std::filesystem::path::preferred_separator != '/';

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

ArrayChoice choose(ArrayBackend wanted) {
  const bool may_have_accelerators = base::may_have_accelerators();
  const Machine machine = machine::discover({.wants = [&](const BackendState& state) {
    return machine::concerns_arrays(wanted, state, may_have_accelerators, kIsWindows);
  }});
  return machine::choose_arrays(wanted, machine, kIsWindows);
}

}  // namespace

std::string_view to_string(ArrayBackend backend) {
  return std::ranges::find(kNames, backend, &decltype(kNames)::value_type::first)->second;
}

std::optional<ArrayBackend> parse_array_backend(std::string_view name) {
  for (const auto& [backend, known] : kNames) {
    if (std::ranges::equal(name, known, {}, lower, lower)) return backend;
  }
  return {};
}

struct Context::State {
  mutable base::Mutex mutex;
  bool is_chosen = false;
  ArrayChoice choice;
  std::string fallback_reason;

  // Applies the environment variable unless a choice was made already.
  void settle() {
    if (is_chosen) return;
    const std::string named = base::environment("MLX_BACKEND").value_or("auto");
    const std::optional<ArrayBackend> wanted = parse_array_backend(named);
    choice = choose(wanted.value_or(ArrayBackend::automatic));
    if (!wanted)
      fallback_reason = "MLX_BACKEND is " + formats::quoted_name(named) + ", not cpu, metal, cuda, onnx or auto";
    if (!choice.is_wanted) fallback_reason = "MLX_BACKEND is " + formats::quoted_name(named) + ": " + choice.refusals;
    is_chosen = true;
    if (fallback_reason.empty()) return;
    base::log(base::LogLevel::warn, "arrays fall back",
              {{"reason", fallback_reason}, {"used", std::string(to_string(choice.device.backend))}},
              fallback_reason + "; arrays are computed on " + std::string(to_string(choice.device.backend)));
  }
};

Context::Context() : state_(std::make_unique<State>()) {}
Context::~Context() = default;

void Context::set_backend(ArrayBackend backend) {
  ArrayChoice choice = choose(backend);
  if (!choice.is_wanted)
    throw make_error(ErrorCode::unavailable, "arrays cannot run on ", to_string(backend), ": ", choice.refusals,
                     "; see `alate backends`");
  const std::lock_guard lock(state_->mutex);
  state_->choice = std::move(choice);
  state_->fallback_reason.clear();
  state_->is_chosen = true;
}

ArrayBackend Context::get_backend() const { return get_device().backend; }

ArrayDevice Context::get_device() const {
  const std::lock_guard lock(state_->mutex);
  state_->settle();
  return state_->choice.device;
}

std::string Context::fallback_reason() const {
  const std::lock_guard lock(state_->mutex);
  state_->settle();
  return state_->fallback_reason;
}

std::string Context::info() const {
  const ArrayDevice device = get_device();
  return "Alate " + std::string(version()) + " - Backend: " + std::string(to_string(device.backend)) +
         ", Device: " + device.name;
}

Context& default_context() {
  static Context context;
  return context;
}

std::string info() { return default_context().info(); }
void set_backend(ArrayBackend backend) { default_context().set_backend(backend); }
ArrayBackend get_backend() { return default_context().get_backend(); }
ArrayDevice get_device() { return default_context().get_device(); }

}  // namespace alate
