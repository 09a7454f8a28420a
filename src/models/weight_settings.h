// In what type a model computes, and how a folder that `alate quantize` wrote stores its weights.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "formats/json.h"

namespace alate::models {

/// What a model is asked to compute its products in.
enum class ComputeDType {
  as_stored,  // f16 and bf16 in float32
  float32,
  int8,  // products of 8-bit integers; the rest in float32
};

/// Of a name as options have it: "", "float32", "f32", "int8", "i8", "auto" (as stored). Throws unsupported naming
/// another.
ComputeDType parse_compute_dtype(std::string_view name);

/// The object quantization_config of config.json, where `alate quantize` wrote it; docs/quantization.md says what the
/// tensors beside it are.
struct QuantizationConfig {
  static constexpr std::string_view kMethod = "alate";
  static constexpr std::int64_t kVersion = 1;

  bool is_present = false;
  std::int64_t activation_runs = 1;                                       // of the products that are not named
  std::map<std::string, std::int64_t, std::less<>> activation_runs_of{};  // by the module's name in the file

  std::int64_t runs_of(std::string_view module) const;
};

/// Absent where config.json has none, or one of another tool. Throws corrupt, and unsupported for a later version.
QuantizationConfig read_quantization(const formats::Json& config);
formats::Json to_json(const QuantizationConfig& quantization);

struct WeightSettings {
  QuantizationConfig quantization = {};
  ComputeDType dtype = ComputeDType::as_stored;

  /// The type of the products of the encoder's layers, as options name it: "float32", "int8".
  std::string_view computes_in() const;
  /// Whether weights are rounded when they are loaded, without calibration.
  bool rounds_on_load() const { return dtype == ComputeDType::int8 && !quantization.is_present; }
};

}  // namespace alate::models
