// Work of matrix products.
#include "backends/cpu/kernels/dispatch/dispatch.h"
#include "backends/cpu/steps/products/product_values.h"
#include "backends/cpu/steps/steps.h"
#include "backends/cpu/steps/work.h"
#include "graph/operands.h"

namespace alate::cpu {
namespace {

using backends::Arithmetic;
using backends::Work;

// `products` multiply-adds of elements of `dtype`. A complex one counts as four real ones.
Work multiplied(const Step& step, const Frame& frame, DType dtype, double products) {
  const auto parts = static_cast<double>(product_parts(dtype));
  Work work = moved_bytes(step, frame);
  work.flops = 2 * products * parts * parts;
  work.arithmetic = product_dtype(dtype) == DType::f32 ? Arithmetic::f32 : Arithmetic::other;
  return work;
}

double elements(const Shape& shape) { return static_cast<double>(count_of(shape)); }
double extent(const Shape& shape, std::int64_t axis) {
  return static_cast<double>(extent_of(shape, static_cast<std::size_t>(axis)));
}

// Rows times a weight [out, in], an operand; rows and results may be stored in another type.
Work work_with_weight(const Step& step, const Frame& frame, std::size_t weight) {
  const Shape& x = frame.shape(step.inputs[0]);
  return multiplied(step, frame, x.dtype, static_cast<double>(rows_of(x)) * elements(frame.shape(step.inputs[weight])));
}

}  // namespace

Work dense_work(const Step& step, const Frame& frame) {
  const auto& dense = std::get<graph::Dense>(step.attributes);
  return work_with_weight(step, frame, graph::places_of<graph::DenseOperands>(dense).weight);
}

Work quantized_dense_work(const Step& step, const Frame& frame) {
  const auto& dense = std::get<graph::QuantizedDense>(step.attributes);
  return work_with_weight(step, frame, graph::places_of<graph::QuantizedDenseOperands>(dense).stored);
}

// 8-bit arithmetic where the CPU multiplies four bytes at a time, otherwise 16-bit.
Work integer_product_work(const Step& step, const Frame& frame) {
  Work work = quantized_dense_work(step, frame);
  work.arithmetic = kernels().integers.kind == WordKind::bytes ? Arithmetic::int8 : Arithmetic::int16;
  return work;
}

Work norm_integer_product_work(const Step& step, const Frame& frame) {
  const Step &norm = step.parts[0], &product = step.parts[1];
  const Work first = work_of(norm, frame);
  Work work = work_of(product, frame);
  work.flops += first.flops;
  work.bytes += first.bytes - operand_bytes(product, frame, 0);
  return work;
}

Work dot_general_work(const Step& step, const Frame& frame) {
  const Shape& x = frame.shape(step.inputs[0]);
  double k = 1;
  for (const std::int64_t axis : std::get<graph::DotGeneral>(step.attributes).lhs_contracting) k *= extent(x, axis);
  return multiplied(step, frame, x.dtype, elements(frame.shape(step.output())) * k);
}

Work convolution_work(const Step& step, const Frame& frame) {
  const Shape& kernel = frame.shape(step.inputs[1]);
  double k = 1;  // terms per element of the result: the kernel without its feature axis
  const auto features = static_cast<std::size_t>(std::get<graph::Convolution>(step.attributes).kernel_output);
  for (std::size_t axis = 0; axis < kernel.rank(); ++axis) {
    if (axis != features) k *= extent(kernel, static_cast<std::int64_t>(axis));
  }
  return multiplied(step, frame, frame.shape(step.inputs[0]).dtype, elements(frame.shape(step.output())) * k);
}

}  // namespace alate::cpu
