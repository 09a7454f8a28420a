// Matrix products: dense over packed weights, and dot_general.
#include <algorithm>

#include "alate/error.h"
#include "backends/cpu/kernels/gemm/gemm.h"
#include "backends/cpu/kernels/gemm/product.h"
#include "backends/cpu/plan/integer_rows.h"
#include "backends/cpu/steps/products/dense_arguments.h"
#include "backends/cpu/steps/products/product_values.h"
#include "backends/cpu/steps/products/quantization.h"
#include "backends/cpu/steps/steps.h"
#include "graph/operands.h"

namespace alate::cpu {
namespace {

// An operand of dot_general as [batch, free, contracting]: the order of its axes, and the three extents.
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

// Operands as [batch, free, contracting] in the computed type, and the packed right operand of one batch entry.
struct Product {
  DType dtype;
  Side lhs, rhs;
  ScratchParts scratch;
  ProductOperand left, right;
  ProductResult result;
  std::byte *expanded = nullptr, *packed = nullptr;

  Product(const graph::DotGeneral& dot, const Shape& x, const Shape& y, const Shape& out, std::byte* memory)
      : dtype(x.dtype),
        lhs(side_of(x, dot.lhs_batch, dot.lhs_contracting)),
        rhs(side_of(y, dot.rhs_batch, dot.rhs_contracting)),
        scratch(memory),
        left(x, lhs.axes, scratch),
        right(y, rhs.axes, scratch),
        result(out, {}, scratch) {
    const std::size_t parts = product_parts(dtype);
    if (parts > 1) expanded = scratch.take(2 * rhs.free * rhs.contracting * product_bytes(dtype));
    packed = scratch.take(packed_product_bytes(product_dtype(dtype), rhs.free * parts, rhs.contracting * parts));
  }
};

}  // namespace

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

std::size_t packed_dense_bytes(const Shape& weight, const graph::Attributes& /*attributes*/) {
  return packed_word_count(extent_of(weight, 0), extent_of(weight, 1)) * sizeof(float);
}

Tensor pack_dense(const Tensor& weight, const graph::Attributes& /*attributes*/) {
  const auto n = static_cast<std::size_t>(weight.extent(0)), k = static_cast<std::size_t>(weight.extent(1));
  Tensor packed = Tensor::uninitialized({DType::f32, {static_cast<std::int64_t>(packed_word_count(n, k))}});
  pack_weights(weight.values<float>().data(), k, n, k, packed.mutable_values<float>().data(),
               &base::ThreadPool::shared());
  return packed;
}

SlotId weight_slot(const Step& step) {
  return step.inputs[graph::places_of<graph::DenseOperands>(std::get<graph::Dense>(step.attributes)).weight];
}

GemmArguments dense_arguments(const Step& step, const Frame& frame) {
  const auto at = graph::places_of<graph::DenseOperands>(std::get<graph::Dense>(step.attributes));
  const SlotId rows = step.inputs[at.x];
  const Shape &x = frame.shape(rows), &result = frame.shape(step.output());
  GemmArguments arguments;
  arguments.m = rows_of(result);
  arguments.k = extent_of(x, x.rank() - 1);
  arguments.n = extent_of(frame.shape(step.inputs[at.weight]), 0);
  arguments.a = frame.in<float>(rows);
  arguments.a_stride = x.rank() == 2 ? frame.row_stride(rows) : arguments.k;
  arguments.packed = step.packed.front().values<float>().data();
  apply_epilogue(step, frame, arguments);
  return arguments;
}

void apply_epilogue(const Step& step, const Frame& frame, GemmArguments& product) {
  const Epilogue& epilogue = step.epilogue;
  if (epilogue.bias) product.bias = frame.in<float>(step.inputs[*epilogue.bias]);
  product.activation = activation_of(epilogue.activation);
  if (epilogue.residual) product.residual = frame.in<float>(step.inputs[*epilogue.residual]);
  product.residual_stride = product.n;
  const SlotId result = step.output();
  const SlotFormat& format = frame.slot(result).format;
  if (format.kind == kQuantizedRows) {
    product.integers = integers_in({product.n, format.quantization.groups}, frame.out<std::byte>(result));
    quantize_by(format.quantization, frame, product.integers);
    return;
  }
  if (format.kind == kBf16Rows) {
    product.halves = frame.out<std::uint16_t>(result);
    product.halves_stride = product.n;
    return;
  }
  if (epilogue.row_sums) product.row_sums = frame.out<float>(step.outputs[*epilogue.row_sums]);
  product.c = frame.out<float>(result);
  product.column_block = static_cast<std::size_t>(format.column_block());
  product.c_stride = product.column_block != 0 ? product.column_block : product.n;
  product.block_stride = frame.block_stride(result);
}

void run_dense(const Step& step, const Frame& frame) {
  gemm(dense_arguments(step, frame), frame.pool, frame.max_workers);
}

std::size_t dot_general_scratch(const Step& step, const Binding& binding, std::size_t /*index*/) {
  return Product(std::get<graph::DotGeneral>(step.attributes), binding.shapes[step.inputs[0]],
                 binding.shapes[step.inputs[1]], binding.shapes[step.output()], nullptr)
      .scratch.bytes();
}

void run_dot_general(const Step& step, const Frame& frame) {
  const Product product(std::get<graph::DotGeneral>(step.attributes), frame.shape(step.inputs[0]),
                        frame.shape(step.inputs[1]), frame.shape(step.output()), frame.scratch);
  const Side &lhs = product.lhs, &rhs = product.rhs;
  std::byte* out = frame.out<std::byte>(step.output());
  if (lhs.batch * lhs.free * rhs.free == 0) return;
  const DType computed = product_dtype(product.dtype);
  const std::size_t parts = product_parts(product.dtype), bytes = product_bytes(product.dtype);
  const std::byte* a = product.left.load(frame, frame.in<std::byte>(step.inputs[0]));
  const std::byte* b = product.right.load(frame, frame.in<std::byte>(step.inputs[1]));
  ProductArguments arguments;
  arguments.a_stride = arguments.k = lhs.contracting * parts;
  arguments.packed = product.packed;
  arguments.c_stride = arguments.n = rhs.free * parts;
  arguments.m = lhs.free;
  for (std::size_t i = 0; i < lhs.batch; ++i) {
    const std::byte* w = b + i * rhs.free * rhs.contracting * bytes;
    if (product.expanded != nullptr) {
      expand_complex(product.dtype, w, rhs.contracting, rhs.free, rhs.contracting, product.expanded);
      w = product.expanded;
    }
    pack_product(computed, w, arguments.k, arguments.n, arguments.k, product.packed);
    arguments.a = a + i * lhs.free * lhs.contracting * bytes;
    arguments.c = product.result.target(out) + i * lhs.free * rhs.free * bytes;
    multiply(computed, arguments, frame.pool, frame.max_workers);
  }
  product.result.store(frame, out);
}

}  // namespace alate::cpu
