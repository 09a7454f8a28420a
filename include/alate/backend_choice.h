// The choice of backends and devices to run on, and of the type to compute in.
#pragma once

#include <compare>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace alate {

/// A backend, and optionally one of its devices. Backends may also come from libraries outside this build, so the name
/// is text, and whether a backend has it is checked where the place is used.
class BackendPlace {
 public:
  /// `backend` is a name or an alias; `device` is a device's name or its index in digits, or empty: any.
  explicit BackendPlace(std::string backend, std::string device = {})
      : backend_(std::move(backend)), device_(std::move(device)) {}
  /// NAME or NAME:DEVICE, split at the first colon: "onnx", "onnx:cuda", "xla:0".
  static BackendPlace parse(std::string_view text);
  static std::vector<BackendPlace> parse_all(std::span<const std::string> texts);

  /// "auto": the automatic order of this machine.
  static BackendPlace automatic() { return BackendPlace("auto"); }
  /// Alate's own engine.
  static BackendPlace cpu() { return BackendPlace("cpu"); }
  /// ONNX Runtime.
  static BackendPlace onnx(std::string device = {}) { return BackendPlace("onnx", std::move(device)); }
  /// A PJRT plugin.
  static BackendPlace xla(std::string device = {}) { return BackendPlace("xla", std::move(device)); }
  /// The reference interpreter: slow, and never chosen automatically.
  static BackendPlace reference() { return BackendPlace("reference"); }

  const std::string& backend() const { return backend_; }
  const std::string& device() const { return device_; }
  bool is_automatic() const { return backend_ == "auto"; }

  auto operator<=>(const BackendPlace&) const = default;

 private:
  std::string backend_, device_;
};

/// The inverse of BackendPlace::parse.
std::string to_string(const BackendPlace& place);
/// "onnx:cuda, cpu".
std::string to_string(std::span<const BackendPlace> places);

/// What to do when the requested backend is unavailable.
enum class BackendPolicy {
  strict,  // fail: never run on a backend that was not requested
  warn,    // use the next one, and log a warning
  allow,   // use the next one
};
std::string_view to_string(BackendPolicy policy);  // "strict"
/// The inverse; nothing for an unknown name.
std::optional<BackendPolicy> parse_backend_policy(std::string_view name);
/// The names of all policies.
std::span<const std::string_view> backend_policy_names();

/// Which accelerators the automatic order prefers.
enum class AcceleratorKind {
  automatic,  // the fastest
  cuda,       // devices of this kind first
  coreml,
  tpu,
  off,  // none: processors only
};
std::string_view to_string(AcceleratorKind kind);  // "auto", "cuda"
/// The inverse; nothing for an unknown name.
std::optional<AcceleratorKind> parse_accelerator_kind(std::string_view name);
/// The names of all kinds.
std::span<const std::string_view> accelerator_kind_names();

/// Where something may run. As it stands: the best that is available on this machine.
struct BackendChoice {
  std::vector<BackendPlace> places = {};  // first choice first; empty: the automatic order
  std::string device = {};                // of places without a device; without places: of any backend that has it
  AcceleratorKind accelerators = AcceleratorKind::automatic;
  BackendPolicy policy = BackendPolicy::warn;

  bool operator==(const BackendChoice&) const = default;
};

/// The requested type of a model's matrix products; all else is computed in float32.
enum class ComputeType {
  as_stored,  // the file's type; float16 and bfloat16 compute in float32
  automatic,  // the fastest on this machine that keeps a mean cosine similarity of 0.999 to float32, where a pipeline
              // can measure that; otherwise as stored
  float32,
  bfloat16,  // weights and activations of products in bfloat16, sums in float32
  float16,   // weights are kept in float16 and multiplied in float32
  int8,      // products of 8-bit integers
  // Weights are rounded to blocks of 32 as they are loaded, as GGUF files store them; widths that are no multiple of 32
  // are kept in float32. BlockActivations says what products make of their inputs.
  q8_0,
  q5_1,
  q5_0,
  q4_1,
  q4_0,
};
std::string_view to_string(ComputeType type);  // "auto", "float32"; empty: as stored
/// The inverse, which also takes "f32", "bf16", "f16" and "i8"; nothing for an unknown name.
std::optional<ComputeType> parse_compute_type(std::string_view name);

/// What products make of their inputs where weights are stored in ggml's blocks, as in GGUF files.
enum class BlockActivations {
  int8,    // rounded to 8 bits, with a scale for each 32: several times as fast, cosine to float32 mostly above 0.9995
  floats,  // kept: the results of the weights' exact values
};
std::string_view to_string(BlockActivations activations);  // "int8", "float"
/// The inverse; nothing for an unknown name.
std::optional<BlockActivations> parse_block_activations(std::string_view name);

}  // namespace alate
