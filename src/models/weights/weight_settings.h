// The type that a model computes in, and how a folder written by `alate quantize` stores its weights.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "alate/backend_choice.h"
#include "alate/tensor.h"
#include "formats/json.h"
#include "tensor/encoding.h"

namespace alate::models {

/// Parses a name from options, as parse_compute_type. Throws unsupported naming another.
ComputeType require_compute_type(std::string_view name);

/// The type to load weights in: a choice by measuring has been made before, so that an automatic one is as stored.
constexpr ComputeType loaded_type(ComputeType type) {
  return type == ComputeType::automatic ? ComputeType::as_stored : type;
}

/// How the inputs of a product are quantized to 8 bits; both members are as in graph::QuantizedDense.
struct InputRounding {
  std::int64_t groups = 1;
  std::int64_t rotation = 0;

  bool operator==(const InputRounding&) const = default;
};

/// How a module's weight is stored.
struct WeightStorage {
  std::int64_t bits = 8;        // 8, or 4: two unsigned numbers per byte
  std::int64_t group_size = 0;  // columns that share a scale, of unsigned weights; 0: whole rows do

  bool operator==(const WeightStorage&) const = default;
};

/// The object quantization_config of config.json; docs/quantization.md describes the tensors that go with it.
struct QuantizationConfig {
  static constexpr std::string_view kMethod = "alate";
  /// The last version that is read, and the one that `alate quantize` writes; it does not need the later one.
  static constexpr std::int64_t kVersion = 4, kWrittenVersion = 3;

  bool is_present = false;
  InputRounding inputs = {};                                         // of products not listed below
  std::map<std::string, InputRounding, std::less<>> inputs_of = {};  // by the module's name in the file
  WeightStorage storage = {};                                        // of modules not listed below
  std::map<std::string, WeightStorage, std::less<>> storage_of = {};

  InputRounding rounding_of(std::string_view module) const;
  WeightStorage storage_of_module(std::string_view module) const;
  /// Of the numbers in a tensor of the file: a matrix of bytes that hold two numbers of 4 bits each has twice the
  /// columns and the type u4.
  Shape shape_of(std::string_view tensor, const Shape& in_file) const;
};

/// Absent (is_present is false) where config.json has none, or one of another tool. Throws corrupt, and unsupported for
/// a later version.
QuantizationConfig read_quantization(const formats::Json& config);
/// Of weights in 8 bits, as `alate quantize` writes them.
formats::Json to_json(const QuantizationConfig& quantization);

struct WeightSettings {
  QuantizationConfig quantization = {};
  ComputeType dtype = ComputeType::as_stored;             // never automatic
  BlockActivations activations = BlockActivations::int8;  // of products with weights of ggml blocks
  bool keeps_halves = false;  // as stored: matrices in f16, and tables in f16 or bf16, are not widened in memory

  /// The type of the products in the encoder's layers, as options name it: "float32", "int8".
  std::string_view computes_in() const;
  /// The blocks that weights of these products are rounded to on load; none where they are kept in a type.
  std::optional<tensor::EncodingKind> blocks() const;
  /// The type that weights of these products are kept in: bf16 or f16 where requested, otherwise f32.
  DType kept_in() const;
  /// Whether products of activations with each other may round them; true where products with weights do.
  bool rounds_activations() const;
  /// Whether weights are quantized at load time, without calibration.
  bool rounds_on_load() const { return (dtype == ComputeType::int8 && !quantization.is_present) || blocks(); }
};

}  // namespace alate::models
