#include "tensor/half.h"

#include "alate/error.h"

namespace alate::tensor {
namespace {

template <typename From, typename To, typename Convert>
void convert_each(std::span<const From> from, std::span<To> to, Convert convert) {
  if (from.size() != to.size()) {
    throw make_error(ErrorCode::internal, from.size(), " values were to be converted into ", to.size());
  }
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = convert(from[i]);
}

}  // namespace

void f16_to_float(std::span<const std::uint16_t> from, std::span<float> to) {
  convert_each(from, to, [](std::uint16_t value) { return f16_to_float(value); });
}

void float_to_f16(std::span<const float> from, std::span<std::uint16_t> to) {
  convert_each(from, to, [](float value) { return float_to_f16(value); });
}

void bf16_to_float(std::span<const std::uint16_t> from, std::span<float> to) {
  convert_each(from, to, [](std::uint16_t value) { return bf16_to_float(value); });
}

void float_to_bf16(std::span<const float> from, std::span<std::uint16_t> to) {
  convert_each(from, to, [](float value) { return float_to_bf16(value); });
}

void f8e5m2_to_float(std::span<const std::uint8_t> from, std::span<float> to) {
  convert_each(from, to, [](std::uint8_t value) { return f8e5m2_to_float(value); });
}

void float_to_f8e5m2(std::span<const float> from, std::span<std::uint8_t> to) {
  convert_each(from, to, [](float value) { return float_to_f8e5m2(value); });
}

void f8e4m3fn_to_float(std::span<const std::uint8_t> from, std::span<float> to) {
  convert_each(from, to, [](std::uint8_t value) { return f8e4m3fn_to_float(value); });
}

void float_to_f8e4m3fn(std::span<const float> from, std::span<std::uint8_t> to) {
  convert_each(from, to, [](float value) { return float_to_f8e4m3fn(value); });
}

}  // namespace alate::tensor
