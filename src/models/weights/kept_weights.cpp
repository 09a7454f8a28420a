#include "models/weights/kept_weights.h"

#include <cmath>
#include <utility>

#include "alate/error.h"
#include "graph/interpreter.h"
#include "tensor/element.h"

namespace alate::models {
namespace {

// Half a step above the largest f16: numbers from here on round to infinity.
constexpr double kBeyondF16 = 65520;

bool fits_f16(double value) { return std::abs(value) < kBeyondF16 || !std::isfinite(value); }

void require_f16(const Tensor& weight, const std::string& stored) {
  const auto require = [&](double value) {
    if (!fits_f16(value))
      throw make_error(ErrorCode::unsupported, "weight '", stored, "' has the number ", value,
                       ", and float16 ends at 65504: use bfloat16 or float32");
  };
  if (weight.dtype() == DType::f32) {
    for (const float value : weight.values<float>()) require(double{value});
    return;
  }
  const std::size_t bytes = bits_of(weight.dtype()) / 8;
  for (std::size_t i = 0; i < weight.byte_count(); i += bytes)
    require(tensor::load_double(weight.dtype(), weight.bytes().data() + i));
}

}  // namespace

graph::ConstantPtr kept_as(DType dtype, graph::ConstantPtr floats, const std::string& stored) {
  if (dtype == DType::f32) return floats;
  // Converts the stored constant behind its f32 conversion, so that nothing is rounded twice.
  if (floats->op == graph::Op::convert) floats = floats->operands.front();
  if (floats->shape.dtype == dtype) return floats;
  if (dtype == DType::f16) require_f16(graph::materialize(*floats), stored);
  const Shape shape{dtype, floats->shape.dims};
  return graph::make_constant(graph::Op::convert, graph::Convert{.dtype = dtype}, shape, {std::move(floats)});
}

}  // namespace alate::models
