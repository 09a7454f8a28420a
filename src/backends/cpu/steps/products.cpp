// Matrix products: dense over packed weights, and dot_general.
#include <algorithm>

#include "alate/error.h"
#include "backends/cpu/kernels/gemm.h"
#include "backends/cpu/kernels/transpose.h"
#include "backends/cpu/steps/steps.h"

namespace alate::cpu {
namespace {

Activation activation_of(graph::Activation activation) {
  switch (activation) {
    case graph::Activation::none: return Activation::none;
    case graph::Activation::relu: return Activation::relu;
    case graph::Activation::gelu_erf: return Activation::gelu_erf;
    case graph::Activation::gelu_tanh: return Activation::gelu_tanh;
    case graph::Activation::silu: return Activation::silu;
    case graph::Activation::tanh: return Activation::tanh;
    case graph::Activation::sigmoid: return Activation::sigmoid;
    case graph::Activation::quick_gelu: return Activation::quick_gelu;
  }
  throw Error(ErrorCode::internal, "unknown activation");
}

// One side of a dot_general as [batch, free, contracting]: the order of its axes, and the three extents.
struct Side {
  std::vector<std::size_t> axes;
  std::size_t batch = 1, free = 1, contracting = 1;
};

Side side_of(const Shape& shape, const graph::Numbers& batch, const graph::Numbers& contracting) {
  Side side;
  std::vector<bool> used(shape.rank());
  const auto use = [&](std::int64_t axis) {
    used[static_cast<std::size_t>(axis)] = true;
    return extent_of(shape, static_cast<std::size_t>(axis));
  };
  for (const std::int64_t axis : batch) side.batch *= use(axis);
  for (const std::int64_t axis : contracting) side.contracting *= use(axis);
  side.axes.assign(batch.begin(), batch.end());
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    if (used[i]) continue;
    side.axes.push_back(i);
    side.free *= extent_of(shape, i);
  }
  side.axes.insert(side.axes.end(), contracting.begin(), contracting.end());
  return side;
}

struct Product {
  Side lhs, rhs;
  std::size_t lhs_floats() const { return lhs.batch * lhs.free * lhs.contracting; }
  std::size_t rhs_floats() const { return rhs.batch * rhs.free * rhs.contracting; }
  std::size_t packed_floats() const { return packed_float_count(rhs.free, rhs.contracting); }
};

Product product_of(const Step& step, const Shape& lhs, const Shape& rhs) {
  const auto& dot = std::get<graph::DotGeneral>(step.attributes);
  return {side_of(lhs, dot.lhs_batch, dot.lhs_contracting), side_of(rhs, dot.rhs_batch, dot.rhs_contracting)};
}

std::size_t padded(std::size_t floats) { return (floats + 15) / 16 * 16; }

// The operand with its axes in the side's order; as it is where they are so already.
const float* in_order(const Frame& frame, SlotId slot, const Side& side, float* scratch) {
  if (std::is_sorted(side.axes.begin(), side.axes.end())) return frame.in<float>(slot);
  const Shape& shape = frame.shape(slot);
  std::vector<std::ptrdiff_t> strides(shape.rank()), permuted;
  std::vector<std::size_t> dims;
  std::ptrdiff_t next = 1;
  for (std::size_t i = shape.rank(); i-- > 0;) {
    strides[i] = next;
    next *= static_cast<std::ptrdiff_t>(extent_of(shape, i));
  }
  for (const std::size_t axis : side.axes) {
    permuted.push_back(strides[axis]);
    dims.push_back(extent_of(shape, axis));
  }
  copy_strided(frame.in<float>(slot), permuted, scratch, dims, sizeof(float), frame.pool, frame.max_workers);
  return scratch;
}

}  // namespace

Tensor pack_dense(const Tensor& weight) {
  const auto n = static_cast<std::size_t>(weight.extent(0)), k = static_cast<std::size_t>(weight.extent(1));
  Tensor packed = Tensor::uninitialized({DType::f32, {static_cast<std::int64_t>(packed_float_count(n, k))}});
  pack_weights(weight.values<float>().data(), k, n, k, packed.mutable_values<float>().data(),
               &base::ThreadPool::shared());
  return packed;
}

void run_dense(const Step& step, const Frame& frame) {
  const auto& dense = std::get<graph::Dense>(step.attributes);
  const Shape &x = frame.shape(step.inputs[0]), &result = frame.shape(step.output());
  GemmArguments arguments;
  arguments.m = rows_of(result);
  arguments.k = extent_of(x, x.rank() - 1);
  arguments.n = extent_of(result, result.rank() - 1);
  if (arguments.m == 0 || arguments.n == 0) return;
  arguments.a = frame.in<float>(step.inputs[0]);
  arguments.a_stride = x.rank() == 2 ? frame.row_stride(step.inputs[0]) : arguments.k;
  arguments.packed = step.packed.values<float>().data();
  if (dense.has_bias) arguments.bias = frame.in<float>(step.inputs[2]);
  arguments.activation = activation_of(dense.activation);
  if (dense.has_residual) arguments.residual = frame.in<float>(step.inputs.back());
  arguments.residual_stride = arguments.c_stride = arguments.n;
  arguments.c = frame.out<float>(step.output());
  gemm(arguments, frame.pool, frame.max_workers);
}

std::size_t dot_general_scratch(const Step& step, const Binding& binding, std::size_t /*index*/) {
  const Product product = product_of(step, binding.shapes[step.inputs[0]], binding.shapes[step.inputs[1]]);
  return (padded(product.packed_floats()) + padded(product.lhs_floats()) + padded(product.rhs_floats())) *
         sizeof(float);
}

void run_dot_general(const Step& step, const Frame& frame) {
  const Product product = product_of(step, frame.shape(step.inputs[0]), frame.shape(step.inputs[1]));
  const auto& [lhs, rhs] = product;
  float* out = frame.out<float>(step.output());
  if (lhs.batch * lhs.free * rhs.free == 0) return;
  float* packed = reinterpret_cast<float*>(frame.scratch);
  float* lhs_scratch = packed + padded(product.packed_floats());
  const float* a = in_order(frame, step.inputs[0], lhs, lhs_scratch);
  const float* b = in_order(frame, step.inputs[1], rhs, lhs_scratch + padded(product.lhs_floats()));
  for (std::size_t i = 0; i < lhs.batch; ++i) {
    pack_weights(b + i * rhs.free * rhs.contracting, rhs.contracting, rhs.free, rhs.contracting, packed);
    GemmArguments arguments;
    arguments.a = a + i * lhs.free * lhs.contracting;
    arguments.a_stride = arguments.k = lhs.contracting;
    arguments.packed = packed;
    arguments.c = out + i * lhs.free * rhs.free;
    arguments.c_stride = arguments.n = rhs.free;
    arguments.m = lhs.free;
    gemm(arguments, frame.pool, frame.max_workers);
  }
}

}  // namespace alate::cpu
