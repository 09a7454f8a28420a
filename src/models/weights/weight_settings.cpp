#include "models/weights/weight_settings.h"

#include <bit>
#include <utility>

#include "alate/error.h"

namespace alate::models {
namespace {

using formats::Json;

constexpr std::string_view kWeight = ".weight";

std::int64_t count_in(const Json& object, const char* field, std::int64_t least, std::int64_t otherwise,
                      std::string_view of, std::string_view meaning) {
  const Json* value = object.find(field);
  if (value == nullptr) return otherwise;
  const std::string what = "config.json: " + std::string(field) + " of " + formats::quoted_name(of);
  const std::int64_t count = value->is_integer() ? value->as_int(what) : -1;
  if (count < least || count > INT32_MAX) throw make_error(ErrorCode::corrupt, what, " is no ", meaning);
  return count;
}

// Number of groups in the object; versions before 3 call it activation_runs.
std::int64_t groups_in(const Json& object, std::int64_t otherwise, std::string_view of) {
  const char* field = object.find("activation_groups") == nullptr && object.find("activation_runs") != nullptr
                          ? "activation_runs"
                          : "activation_groups";
  return count_in(object, field, 1, otherwise, of, "number of groups, which is 1 or more");
}

// The object's fields, with those of `otherwise` for missing ones.
InputRounding input_rounding(const Json& object, const InputRounding& otherwise, std::string_view of) {
  const InputRounding found{
      .groups = groups_in(object, otherwise.groups, of),
      .rotation = count_in(object, "rotation", 0, otherwise.rotation, of, "length, which is a power of two, or 0")};
  if (found.rotation != 0 && !std::has_single_bit(static_cast<std::uint64_t>(found.rotation)))
    throw make_error(ErrorCode::corrupt, "config.json: rotation of ", formats::quoted_name(of), " is ", found.rotation,
                     ", which is no power of two, nor 0");
  return found;
}

// The object's fields, with those of `otherwise` for missing ones.
WeightStorage weight_storage(const Json& object, const WeightStorage& otherwise, std::string_view of) {
  const WeightStorage found{
      .bits = count_in(object, "bits", 1, otherwise.bits, of, "number of bits"),
      .group_size = count_in(object, "group_size", 0, otherwise.group_size, of, "number of columns, or 0")};
  if (found.bits != 4 && found.bits != 8)
    throw make_error(ErrorCode::unsupported, "config.json: quantization_config has ", found.bits, " bits of ",
                     formats::quoted_name(of), ", not 4 or 8");
  return found;
}

// The inverse of input_rounding.
Json::Object to_object(const InputRounding& inputs, const InputRounding& otherwise) {
  Json::Object object = {{"activation_groups", inputs.groups}};
  if (inputs.rotation != otherwise.rotation) object.emplace_back("rotation", inputs.rotation);
  return object;
}

}  // namespace

ComputeType require_compute_type(std::string_view name) {
  if (const auto type = parse_compute_type(name)) return *type;
  throw make_error(ErrorCode::unsupported,
                   "this version computes in float32, bfloat16, float16 or int8, or with weights in q8_0, "
                   "q5_1, q5_0, q4_1 or q4_0, not in ",
                   name);
}

InputRounding QuantizationConfig::rounding_of(std::string_view module) const {
  const auto found = inputs_of.find(module);
  return found == inputs_of.end() ? inputs : found->second;
}

WeightStorage QuantizationConfig::storage_of_module(std::string_view module) const {
  const auto found = storage_of.find(module);
  return found == storage_of.end() ? storage : found->second;
}

Shape QuantizationConfig::shape_of(std::string_view tensor, const Shape& in_file) const {
  if (!is_present || !tensor.ends_with(kWeight) || in_file.dtype != DType::u8 || in_file.rank() != 2) return in_file;
  const std::int64_t bytes = in_file.dims[1].number();
  const std::string_view module = tensor.substr(0, tensor.size() - kWeight.size());
  if (storage_of_module(module).bits != 4 || bytes > INT64_MAX / 2) return in_file;
  return {DType::u4, {in_file.dims[0], bytes * 2}};
}

QuantizationConfig read_quantization(const Json& config) {
  const Json* found = config.find("quantization_config");
  if (found == nullptr || !found->is_object() || found->get_string("quant_method", "") != QuantizationConfig::kMethod)
    return {};
  const std::int64_t version = found->get_int("version", QuantizationConfig::kVersion);
  if (version > QuantizationConfig::kVersion)
    throw make_error(ErrorCode::unsupported, "config.json: quantization_config is of version ", version,
                     ", and this program reads those up to ", QuantizationConfig::kVersion, ": use a newer Alate");
  QuantizationConfig quantization{.is_present = true};
  quantization.inputs = input_rounding(*found, {}, "all modules");
  quantization.storage = weight_storage(*found, {}, "all modules");
  if (const Json* modules = found->find("modules"); modules != nullptr && modules->is_object()) {
    for (const auto& [name, module] : modules->as_object("modules")) {
      quantization.inputs_of.emplace(name, input_rounding(module, quantization.inputs, name));
      quantization.storage_of.emplace(name, weight_storage(module, quantization.storage, name));
    }
  }
  return quantization;
}

Json to_json(const QuantizationConfig& quantization) {
  Json::Object object = {
      {"quant_method", QuantizationConfig::kMethod}, {"version", QuantizationConfig::kWrittenVersion}, {"bits", 8}};
  for (auto& field : to_object(quantization.inputs, {})) object.push_back(std::move(field));
  Json::Object modules;
  for (const auto& [name, inputs] : quantization.inputs_of)
    modules.emplace_back(name, to_object(inputs, quantization.inputs));
  if (!modules.empty()) object.emplace_back("modules", std::move(modules));
  return object;
}

std::string_view WeightSettings::computes_in() const {
  switch (dtype) {
    case ComputeType::automatic: break;
    case ComputeType::as_stored: return quantization.is_present ? "int8" : "float32";
    default: return to_string(dtype);
  }
  throw Error(ErrorCode::internal, "unknown type to compute in");
}

std::optional<tensor::EncodingKind> WeightSettings::blocks() const {
  switch (dtype) {
    case ComputeType::q8_0: return tensor::EncodingKind::q8_0;
    case ComputeType::q5_1: return tensor::EncodingKind::q5_1;
    case ComputeType::q5_0: return tensor::EncodingKind::q5_0;
    case ComputeType::q4_1: return tensor::EncodingKind::q4_1;
    case ComputeType::q4_0: return tensor::EncodingKind::q4_0;
    default: return std::nullopt;
  }
}

bool WeightSettings::rounds_activations() const {
  const bool multiplies_integers = quantization.is_present && dtype == ComputeType::as_stored;
  return multiplies_integers || dtype == ComputeType::int8 || dtype == ComputeType::bfloat16;
}

DType WeightSettings::kept_in() const {
  return dtype == ComputeType::bfloat16 ? DType::bf16 : dtype == ComputeType::float16 ? DType::f16 : DType::f32;
}

}  // namespace alate::models
