// dense steps of f32 with a weight of bf16 or f16: half_product.h.
#include "backends/cpu/kernels/gemm/half_product.h"

#include "backends/cpu/kernels/vectors/scratch.h"
#include "backends/cpu/steps/products/dense_arguments.h"
#include "backends/cpu/steps/steps.h"
#include "backends/cpu/steps/work.h"

namespace alate::cpu {
namespace {

DType weight_dtype(const Step& step, const Binding& binding) { return binding.shapes[weight_slot(step)].dtype; }

// Whether the step before stored the activations already rounded.
bool has_rounded_activations(const Step& step, const Binding& binding) {
  return binding.slots[step.inputs[0]].format.kind == kBf16Rows;
}

}  // namespace

std::size_t packed_half_dense_bytes(const Shape& weight, const graph::Attributes& /*attributes*/) {
  return packed_half_bytes(extent_of(weight, 0), extent_of(weight, 1), half_product_kernel(weight.dtype));
}

Tensor pack_half_dense(const Tensor& weight, const graph::Attributes& attributes) {
  const std::size_t words = packed_half_dense_bytes(weight.shape(), attributes) / sizeof(float);
  Tensor packed = Tensor::uninitialized({DType::f32, {static_cast<std::int64_t>(words)}});
  pack_half_weights(weight.bytes().data(), extent_of(weight.shape(), 0), extent_of(weight.shape(), 1),
                    packed.mutable_bytes().data(), &base::ThreadPool::shared(), half_product_kernel(weight.dtype()));
  return packed;
}

std::size_t half_dense_scratch(const Step& step, const Binding& binding, std::size_t /*index*/) {
  if (has_rounded_activations(step, binding)) return 0;
  const Shape& x = binding.shapes[step.inputs[0]];
  const DType weight = weight_dtype(step, binding);
  return scratch_aligned(
      half_product_scratch(weight, rows_of(x), extent_of(x, x.rank() - 1), half_product_kernel(weight)));
}

void run_half_dense(const Step& step, const Frame& frame) {
  const DType weight = weight_dtype(step, frame.binding);
  const GemmKernel& kernel = half_product_kernel(weight);
  GemmArguments product = dense_arguments(step, frame);
  if (!has_rounded_activations(step, frame.binding))
    return multiply_half(weight, product, frame.scratch, frame.pool, frame.max_workers, kernel);
  const std::size_t values = values_per_word(kernel.kind);
  product.k /= values;
  product.a_stride /= values;
  gemm(product, frame.pool, frame.max_workers, kernel);
}

backends::Work half_dense_work(const Step& step, const Frame& frame) {
  backends::Work work = dense_work(step, frame);
  if (half_product_kernel(weight_dtype(step, frame.binding)).kind == WordKind::bf16)
    work.arithmetic = backends::Arithmetic::bf16;
  return work;
}

}  // namespace alate::cpu
