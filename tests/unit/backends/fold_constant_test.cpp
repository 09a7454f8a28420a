// Folded constants: kernels give the bits of the reference interpreter.
#include "backends/fold_constant.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "graph/interpreter.h"

namespace alate::backends {
namespace {

using graph::ConstantPtr;
using graph::Op;

// Every bit pattern of 16 bits, or as many different words of 32 bits, NaNs and infinities among them.
ConstantPtr leaf(std::string name, DType dtype, std::vector<std::int64_t> extents) {
  Tensor tensor = Tensor::uninitialized(Shape{dtype, {extents.begin(), extents.end()}});
  if (dtype == DType::f32) {
    std::uint32_t word = 1;
    for (float& value : tensor.mutable_values<float>())
      value = static_cast<float>(word = word * 1664525U + 1013904223U);
  } else {
    std::uint8_t byte = 0;
    for (std::byte& value : tensor.mutable_bytes()) value = std::byte{byte = static_cast<std::uint8_t>(byte * 5 + 3)};
  }
  return graph::make_constant(std::move(name), std::move(tensor));
}

Shape shape(DType dtype, std::vector<std::int64_t> extents) { return {dtype, {extents.begin(), extents.end()}}; }

void expect_as_interpreted(const ConstantPtr& constant) {
  const Tensor folded = fold_constant(*constant), expected = graph::materialize(*constant);
  EXPECT_EQ(folded.shape(), expected.shape());
  EXPECT_TRUE(std::ranges::equal(folded.bytes(), expected.bytes())) << to_string(constant->op);
}

ConstantPtr transposed(ConstantPtr constant) {
  const auto& dims = constant->shape.dims;
  Shape turned{constant->shape.dtype, {dims[1], dims[0]}};
  return graph::make_constant(Op::transpose, graph::Permutation{.permutation = {1, 0}}, std::move(turned),
                              {std::move(constant)});
}

TEST(FoldConstant, GivesALeafsOwnBytes) {
  const ConstantPtr constant = leaf("w", DType::f32, {200, 200});
  EXPECT_TRUE(fold_constant(*constant).shares_storage_with(constant->tensor));
}

TEST(FoldConstant, MovesLargeValuesAsTheInterpreterDoes) {
  for (const DType dtype : {DType::f32, DType::i8, DType::f16}) {
    const ConstantPtr wide = leaf("wide", dtype, {130, 250}), other = leaf("other", dtype, {130, 250});
    expect_as_interpreted(transposed(wide));
    expect_as_interpreted(graph::make_constant(Op::reverse, graph::Axes{.axes = {1}}, wide->shape, {wide}));
    expect_as_interpreted(
        graph::make_constant(Op::concatenate, graph::Axis{.axis = 0}, shape(dtype, {260, 250}), {wide, other}));
    expect_as_interpreted(graph::make_constant(Op::slice,
                                               graph::Slice{.starts = {1, 2}, .limits = {130, 250}, .strides = {1, 1}},
                                               shape(dtype, {129, 248}), {wide}));
    expect_as_interpreted(
        graph::make_constant(Op::reshape, graph::Reshape{.dims = {250, 130}}, shape(dtype, {250, 130}), {wide}));
  }
}

TEST(FoldConstant, ConvertsLargeFloatsAsTheInterpreterDoes) {
  for (const DType from : {DType::f16, DType::bf16, DType::f32}) {
    for (const DType to : {DType::f16, DType::bf16, DType::f32}) {
      if (from == to) continue;
      const ConstantPtr stored = leaf("w", DType::f32, {200, 200});
      // The halves are of numbers, so that no NaN's payload decides.
      const ConstantPtr source = from == DType::f32 ? stored
                                                    : graph::make_constant(Op::convert, graph::Convert{.dtype = from},
                                                                           Shape{from, stored->shape.dims}, {stored});
      expect_as_interpreted(
          graph::make_constant(Op::convert, graph::Convert{.dtype = to}, Shape{to, stored->shape.dims}, {source}));
    }
  }
}

TEST(FoldConstant, FoldsChainsWithOtherOpsInBetween) {
  const ConstantPtr q = leaf("q", DType::f32, {128, 96}), k = leaf("k", DType::f32, {128, 96});
  const ConstantPtr sum = graph::make_constant(Op::add, graph::NoAttributes{}, q->shape, {q, k});
  const ConstantPtr both = graph::make_constant(Op::concatenate, graph::Axis{.axis = 0}, shape(DType::f32, {256, 96}),
                                                {transposed(transposed(sum)), q});
  expect_as_interpreted(transposed(both));
}

TEST(FoldConstant, ComputesAValueOnceHoweverManyReadIt) {
  ConstantPtr sum = leaf("w", DType::f32, {8});
  for (int doubled = 0; doubled < 60; ++doubled)
    sum = graph::make_constant(Op::add, graph::NoAttributes{}, sum->shape, {sum, sum});
  expect_as_interpreted(sum);  // else 2^60 additions
}

}  // namespace
}  // namespace alate::backends
