// quantized_dense with a weight of ggml blocks: block_product.h.
#include "backends/cpu/kernels/blocks/block_product.h"

#include "backends/cpu/kernels/blocks/pack_blocks.h"
#include "backends/cpu/kernels/vectors/scratch.h"
#include "backends/cpu/steps/products/dense_arguments.h"
#include "backends/cpu/steps/steps.h"
#include "backends/cpu/steps/work.h"
#include "graph/operands.h"

namespace alate::cpu {
namespace {

std::size_t columns_of(const tensor::EncodingKind encoding, const Shape& stored) {
  const tensor::BlockSize block = tensor::block_size(encoding);
  return extent_of(stored, 1) / static_cast<std::size_t>(block.bytes) * static_cast<std::size_t>(block.elements);
}

// Without pointers: what sizes depend on.
BlockProduct sized_product(const Step& step, const Shape& x) {
  const auto& dense = std::get<graph::QuantizedDense>(step.attributes);
  BlockProduct product{.kind = dense.encoding, .rounds_rows = dense.activation_groups > 0, .product = {}};
  product.product.m = rows_of(x);
  product.product.k = extent_of(x, x.rank() - 1);
  return product;
}

}  // namespace

bool fits_block_product(const graph::Graph& graph, const graph::Node& node) {
  const auto& dense = std::get<graph::QuantizedDense>(node.attributes);
  if (!block_form(dense.encoding) || dense.has_smoothing || dense.rotation > 1) return false;
  const auto operands = graph::QuantizedDenseOperands<>::of(node);
  const Shape& stored = graph.shape(operands.stored);
  if (!stored.is_static() || graph.node(operands.stored.node).op != graph::Op::constant) return false;
  if (dense.activation_groups == 0) return true;
  const auto k = static_cast<std::int64_t>(columns_of(dense.encoding, stored));
  return dense.has_symmetric_groups && k == dense.activation_groups * static_cast<std::int64_t>(kBlockPart);
}

std::size_t packed_blocks_bytes(const Shape& stored, const graph::Attributes& attributes) {
  const tensor::EncodingKind encoding = std::get<graph::QuantizedDense>(attributes).encoding;
  return packed_block_bytes(encoding, extent_of(stored, 0), columns_of(encoding, stored));
}

Tensor pack_block_weight(const Tensor& stored, const graph::Attributes& attributes) {
  const tensor::EncodingKind encoding = std::get<graph::QuantizedDense>(attributes).encoding;
  const auto bytes = static_cast<std::int64_t>(packed_blocks_bytes(stored.shape(), attributes));
  Tensor packed = Tensor::uninitialized({DType::u8, {bytes}});
  pack_blocks(encoding, stored.bytes().data(), extent_of(stored.shape(), 0), columns_of(encoding, stored.shape()),
              packed.mutable_bytes().data(), base::ThreadPool::shared());
  return packed;
}

graph::Numbers blocks_layout(const graph::Attributes& attributes) {
  return {static_cast<std::int64_t>(std::get<graph::QuantizedDense>(attributes).encoding)};
}

std::size_t block_dense_scratch(const Step& step, const Binding& binding, std::size_t /*index*/) {
  return scratch_aligned(block_product_scratch(sized_product(step, binding.shapes[step.inputs[0]])));
}

void run_block_dense(const Step& step, const Frame& frame) {
  const auto at = graph::places_of<graph::QuantizedDenseOperands>(std::get<graph::QuantizedDense>(step.attributes));
  BlockProduct product = sized_product(step, frame.shape(step.inputs[at.x]));
  GemmArguments& g = product.product;
  g.n = extent_of(frame.shape(step.inputs[at.stored]), 0);
  g.a = frame.in<float>(step.inputs[at.x]);
  g.a_stride = g.k;
  g.packed = step.packed.front().bytes().data();
  apply_epilogue(step, frame, g);
  multiply_blocks(product, frame.scratch, frame.pool, frame.max_workers);
}

backends::Work block_dense_work(const Step& step, const Frame& frame) {
  const auto& dense = std::get<graph::QuantizedDense>(step.attributes);
  const auto at = graph::places_of<graph::QuantizedDenseOperands>(dense);
  const Shape& x = frame.shape(step.inputs[at.x]);
  backends::Work work = moved_bytes(step, frame);
  work.flops =
      2.0 * static_cast<double>(count_of(x)) * static_cast<double>(extent_of(frame.shape(step.inputs[at.stored]), 0));
  work.arithmetic = dense.activation_groups == 0 ? backends::Arithmetic::f32 : backends::Arithmetic::int8;
  return work;
}

}  // namespace alate::cpu
