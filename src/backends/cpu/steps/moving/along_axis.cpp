// Steps along one axis: cumulative ops, arg_min_max.
#include "alate/error.h"
#include "backends/cpu/kernels/rows/cumulative.h"
#include "backends/cpu/steps/layout.h"
#include "backends/cpu/steps/products/halves.h"

namespace alate::cpu {
namespace {

CumulativeOp op_of(const Step& step) {
  switch (step.operation->op) {
    case graph::Op::cumulative_product: return CumulativeOp::product;
    case graph::Op::cumulative_max: return CumulativeOp::max;
    case graph::Op::cumulative_min: return CumulativeOp::min;
    default: return CumulativeOp::sum;
  }
}

}  // namespace

// For halves widened to f32; the results overwrite them there.
std::size_t widened_scratch(const Step& step, const Binding& binding, std::size_t /*index*/) {
  const Shape& x = binding.shapes[step.inputs[0]];
  return is_half(x.dtype) ? widened_bytes(count_of(x)) : 0;
}

void run_cumulative(const Step& step, const Frame& frame) {
  const auto& attributes = std::get<graph::Cumulative>(step.attributes);
  const Shape& x = frame.shape(step.inputs[0]);
  const std::size_t count = count_of(x);
  if (count == 0) return;
  const AroundAxis around = around_axis(x, attributes.axis);
  const std::byte* in = frame.in<std::byte>(step.inputs[0]);
  std::byte* out = frame.out<std::byte>(step.output());
  const bool is_wide = is_half(x.dtype);
  if (is_wide) convert_values(frame, x.dtype, in, DType::f32, frame.scratch, count);
  cumulative(op_of(step), computed_type(x.dtype),
             {.x = is_wide ? frame.scratch : in,
              .out = is_wide ? frame.scratch : out,
              .outer = around.outer,
              .length = around.length,
              .inner = around.inner,
              .reverse = attributes.reverse,
              .exclusive = attributes.exclusive,
              .limits = frame.slot(step.inputs[0]).shape.dtype},
             frame.pool, frame.max_workers);
  if (is_wide) convert_values(frame, DType::f32, frame.scratch, x.dtype, out, count);
}

void run_arg_min_max(const Step& step, const Frame& frame) {
  const auto& attributes = std::get<graph::ArgMinMax>(step.attributes);
  const Shape &x = frame.shape(step.inputs[0]), &result = frame.shape(step.output());
  const AroundAxis around = around_axis(x, attributes.axis);
  // The extent of a named dim is known only now.
  const std::size_t bits = bits_of(attributes.dtype) - (is_signed_integer(attributes.dtype) ? 1 : 0);
  if (around.length > 1 && bits < 63 && (around.length - 1) >> bits != 0)
    throw make_error(ErrorCode::invalid_argument, "arg_min_max of ", to_string(x),
                     ": the last place does not fit into the dtype of places");
  const std::byte* in = frame.in<std::byte>(step.inputs[0]);
  if (is_half(x.dtype)) {
    convert_values(frame, x.dtype, in, DType::f32, frame.scratch, count_of(x));
    in = frame.scratch;
  }
  arg_extreme(computed_type(x.dtype),
              {.x = in,
               .out = frame.out<std::byte>(step.output()),
               .outer = around.outer,
               .length = around.length,
               .inner = around.inner,
               .place_bytes = element_bytes(result),
               .is_min = attributes.is_min},
              frame.pool, frame.max_workers);
}

}  // namespace alate::cpu
