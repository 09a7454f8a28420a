// The device for array computation, selected as in MLX's bindings: four names, one automatic order, one process-wide
// context.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "alate/backend_choice.h"

namespace alate {

enum class ArrayBackend {
  cpu,  // Alate's own engine
  metal,
  cuda,       // Alate's own CUDA backend, or the CUDA device of a foreign runtime
  onnx,       // ONNX Runtime, on its best device
  automatic,  // Metal, CUDA, on Windows ONNX, then the CPU
};

/// "CPU", "Metal", "CUDA", "ONNX", "Auto".
std::string_view to_string(ArrayBackend backend);
/// The case-insensitive inverse, "auto" included; nothing for an unknown name.
std::optional<ArrayBackend> parse_array_backend(std::string_view name);

struct ArrayDevice {
  ArrayBackend backend = ArrayBackend::cpu;  // never automatic
  int index = 0;                             // among its backend's devices
  std::string name;                          // "ONNX Runtime 1.31.1", "AMD EPYC 9B14, avx512, 2 cores"
  std::uint64_t memory = 0;                  // total bytes; 0: unknown
  BackendPlace place = BackendPlace::cpu();  // as BackendChoice takes it: "cpu", "onnx", "onnx:cuda"
};

/// A backend choice and its outcome. The choice is made at first use. Thread-safe.
class Context {
 public:
  /// Uses the environment variable MLX_BACKEND (cpu, metal, cuda, onnx, auto), otherwise the automatic order. An
  /// unavailable backend or an unknown name is logged as a warning, and the automatic order is used.
  Context();
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /// Throws unavailable, with every reason, if this machine cannot; the previous choice is then kept.
  void set_backend(ArrayBackend backend);
  ArrayBackend get_backend() const;  // never automatic
  ArrayDevice get_device() const;
  /// Why the context does not run on the backend that MLX_BACKEND requested; empty if it does.
  std::string fallback_reason() const;
  /// "Alate 0.1.0 - Backend: ONNX, Device: ONNX Runtime 1.31.1".
  std::string info() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The process-wide context.
Context& default_context();

// Shorthands for the default context.
std::string info();
void set_backend(ArrayBackend backend);
ArrayBackend get_backend();
ArrayDevice get_device();

}  // namespace alate
