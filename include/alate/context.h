// What arrays are computed on, chosen as MLX's bindings choose it: four names, one automatic order, one context for the
// whole process.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace alate {

enum class ArrayBackend {
  cpu,  // Alate's own engine
  metal,
  cuda,       // Alate's own, or the CUDA device of a foreign runtime
  onnx,       // ONNX Runtime, on its best device
  automatic,  // Metal, CUDA, on Windows ONNX, then the processor
};

/// "CPU", "Metal", "CUDA", "ONNX", "Auto".
std::string_view to_string(ArrayBackend backend);
/// The inverse in any case of letters, "auto" too; nothing for an unknown name.
std::optional<ArrayBackend> parse_array_backend(std::string_view name);

struct ArrayDevice {
  ArrayBackend backend = ArrayBackend::cpu;  // never automatic
  int index = 0;                             // among the devices of the backend that it belongs to
  std::string name;                          // "ONNX Runtime 1.31.1", "AMD EPYC 9B14, avx512, 2 cores"
  std::uint64_t memory = 0;                  // bytes in all; 0: unknown
  std::string choice;                        // as other options take it: "cpu", "onnx", "onnx:cuda"
};

/// A choice and what it came to. It is made when it is first asked for. Thread-safe.
class Context {
 public:
  /// Uses what the variable MLX_BACKEND says (cpu, metal, cuda, onnx, auto), else the automatic order. What cannot be
  /// had, and a name that is none, are logged as a warning, and the automatic order counts.
  Context();
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /// Throws unavailable with every reason when this machine cannot; the choice is then as before.
  void set_backend(ArrayBackend backend);
  ArrayBackend get_backend() const;  // never automatic
  ArrayDevice get_device() const;
  /// Why the context runs on something else than MLX_BACKEND asked for; empty: it does not.
  std::string fallback_reason() const;
  /// "Alate 0.1.0 - Backend: ONNX, Device: ONNX Runtime 1.31.1".
  std::string info() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The context of the process.
Context& default_context();

// Of the default context.
std::string info();
void set_backend(ArrayBackend backend);
ArrayBackend get_backend();
ArrayDevice get_device();

}  // namespace alate
