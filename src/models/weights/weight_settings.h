// In what type a model computes, and how a folder that `alate quantize` wrote stores its weights.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "alate/tensor.h"
#include "formats/json.h"

namespace alate::models {

/// What a model is asked to compute its products in; the rest is float32.
enum class ComputeDType {
  as_stored,  // f16 and bf16 in float32
  float32,
  bfloat16,  // weights and activations of products in bf16, sums in f32
  float16,   // weights are kept in f16 and multiplied in f32
  int8,      // products of 8-bit integers
};

/// Of a name as options have it: "", "float32", "f32", "bfloat16", "bf16", "float16", "f16", "int8", "i8", "auto" (as
/// stored: who chooses by measuring has chosen before). Throws unsupported naming another.
ComputeDType parse_compute_dtype(std::string_view name);

/// How the inputs of a product become integers of 8 bits: as graph::QuantizedDense has both.
struct InputRounding {
  std::int64_t runs = 1;
  std::int64_t rotation = 0;

  bool operator==(const InputRounding&) const = default;
};

/// The object quantization_config of config.json, where `alate quantize` wrote it; docs/quantization.md says what the
/// tensors beside it are.
struct QuantizationConfig {
  static constexpr std::string_view kMethod = "alate";
  static constexpr std::int64_t kVersion = 2;

  bool is_present = false;
  InputRounding inputs = {};                                         // of the products that are not named
  std::map<std::string, InputRounding, std::less<>> inputs_of = {};  // by the module's name in the file

  InputRounding rounding_of(std::string_view module) const;
};

/// Absent where config.json has none, or one of another tool. Throws corrupt, and unsupported for a later version.
QuantizationConfig read_quantization(const formats::Json& config);
formats::Json to_json(const QuantizationConfig& quantization);

struct WeightSettings {
  QuantizationConfig quantization = {};
  ComputeDType dtype = ComputeDType::as_stored;

  /// The type of the products of the encoder's layers, as options name it: "float32", "int8".
  std::string_view computes_in() const;
  /// That weights of these products are kept in where it is a half: bf16, f16. Otherwise f32.
  DType kept_in() const;
  /// Whether products of activations with each other may round them: where those with weights do.
  bool rounds_activations() const;
  /// Whether weights are rounded when they are loaded, without calibration.
  bool rounds_on_load() const { return dtype == ComputeDType::int8 && !quantization.is_present; }
};

}  // namespace alate::models
