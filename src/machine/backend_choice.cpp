#include "alate/backend_choice.h"

#include <algorithm>
#include <array>

namespace alate {
namespace {

// In the order of the enums.
constexpr std::array<std::string_view, 3> kPolicies = {"strict", "warn", "allow"};
constexpr std::array<std::string_view, 5> kAccelerators = {"auto", "cuda", "coreml", "tpu", "off"};
constexpr std::array<std::string_view, 11> kTypes = {"",     "auto", "float32", "bfloat16", "float16", "int8",
                                                     "q8_0", "q5_1", "q5_0",    "q4_1",     "q4_0"};
constexpr std::array<std::string_view, 2> kActivations = {"int8", "float"};
constexpr std::array<std::string_view, 6> kShortTypes = {"", "auto", "f32", "bf16", "f16", "i8"};

template <typename Value, std::size_t count>
std::optional<Value> find(const std::array<std::string_view, count>& names, std::string_view name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Value>(found - names.begin());
}

}  // namespace

BackendPlace BackendPlace::parse(std::string_view text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  return BackendPlace(std::string(text.substr(0, colon)), std::string(text.substr(std::min(colon + 1, text.size()))));
}

std::vector<BackendPlace> BackendPlace::parse_all(std::span<const std::string> texts) {
  std::vector<BackendPlace> places;
  places.reserve(texts.size());
  for (const std::string& text : texts) places.push_back(parse(text));
  return places;
}

std::string to_string(const BackendPlace& place) {
  return place.device().empty() ? place.backend() : place.backend() + ":" + place.device();
}

std::string to_string(std::span<const BackendPlace> places) {
  std::string text;
  for (const BackendPlace& place : places) text += (text.empty() ? "" : ", ") + to_string(place);
  return text;
}

std::string_view to_string(BackendPolicy policy) { return kPolicies.at(static_cast<std::size_t>(policy)); }
std::optional<BackendPolicy> parse_backend_policy(std::string_view name) {
  return find<BackendPolicy>(kPolicies, name);
}
std::span<const std::string_view> backend_policy_names() { return kPolicies; }

std::string_view to_string(AcceleratorKind kind) { return kAccelerators.at(static_cast<std::size_t>(kind)); }
std::optional<AcceleratorKind> parse_accelerator_kind(std::string_view name) {
  return find<AcceleratorKind>(kAccelerators, name);
}
std::span<const std::string_view> accelerator_kind_names() { return kAccelerators; }

std::string_view to_string(ComputeType type) { return kTypes.at(static_cast<std::size_t>(type)); }
std::optional<ComputeType> parse_compute_type(std::string_view name) {
  const auto type = find<ComputeType>(kTypes, name);
  return type ? type : find<ComputeType>(kShortTypes, name);
}

std::string_view to_string(BlockActivations activations) {
  return kActivations.at(static_cast<std::size_t>(activations));
}
std::optional<BlockActivations> parse_block_activations(std::string_view name) {
  return find<BlockActivations>(kActivations, name);
}

}  // namespace alate
