#include "tests/unit/graph/passes/check_pass.h"

namespace alate::graph {
namespace {

TEST(EliminateCommonSubexpressions, KeepsTheFirstOfEqualNodesAlsoWithOperandsInAnotherOrder) {
  expect_pass(eliminate_common_subexpressions, R"(graph "g" {
    %0 = parameter "x" : f32[2]
    %1 = parameter "y" : f32[2]
    %2 = add(%0, %1) : f32[2]
    %3 = add(%1, %0) : f32[2]
    %4 = exp(%2) : f32[2]
    %5 = exp(%3) : f32[2]
    %6 = sub(%4, %5) : f32[2]
    %7 = sub(%0, %1) : f32[2]
    %8 = sub(%1, %0) : f32[2]
    output "a" = %6
    output "b" = %7
    output "c" = %8
  })",
              R"(graph "g" {
    %0 = parameter "x" : f32[2]
    %1 = parameter "y" : f32[2]
    %2 = add(%0, %1) : f32[2]
    %3 = exp(%2) : f32[2]
    %4 = sub(%3, %3) : f32[2]
    %5 = sub(%0, %1) : f32[2]
    %6 = sub(%1, %0) : f32[2]
    output "a" = %4
    output "b" = %5
    output "c" = %6
  })");
}

TEST(EliminateCommonSubexpressions, TellsAttributesApart) {
  Builder b("g");
  const Value x = b.parameter("x", {DType::f32, {2, 2}});
  b.output("a", b.reduce_sum({x}, {.axes = {0}}));
  b.output("b", b.reduce_sum({x}, {.axes = {1}}));
  b.output("c", b.reduce_sum({x}, {.axes = {0}}));
  const Graph before = b.finish(), after = eliminate_common_subexpressions(before);
  EXPECT_EQ(op_names(after), "reduce_sum reduce_sum");
  expect_same_outputs(before, after, wave_inputs(before), 0);
}

TEST(EliminateCommonSubexpressions, ComparesRegionsByWhatTheyCompute) {
  Builder b("g");
  const auto region = [&](Op op) {
    Builder r("region", b.dims());
    const Value x = r.parameter("x", {DType::f32, {2}});
    r.output("y", r.emit(op, {x}, NoAttributes{}).front());
    return std::make_shared<const Graph>(r.finish());
  };
  const Value x = b.parameter("x", {DType::f32, {2}});
  b.output("a", b.call({x}, region(Op::exp)).front());
  b.output("b", b.call({x}, region(Op::exp)).front());
  b.output("c", b.call({x}, region(Op::tanh)).front());
  const Graph before = b.finish(), after = eliminate_common_subexpressions(before);
  EXPECT_EQ(op_names(after), "call call");
  expect_same_outputs(before, after, wave_inputs(before), 0);
}

TEST(EliminateCommonSubexpressions, DoesNotReachAcrossBarriersOrMergeThem) {
  for (const Op barrier : {Op::optimization_barrier, Op::scheduling_barrier}) {
    Builder b("g");
    const Value x = b.parameter("x", {DType::f32, {2}});
    const Value first = b.exp({x});
    const Value kept = b.emit(barrier, {first}, NoAttributes{}).front();
    const Value again = b.emit(barrier, {first}, NoAttributes{}).front();
    b.output("y", b.add({b.add({kept, again}), b.exp({x})}));
    const std::string name(to_string(barrier));
    EXPECT_EQ(op_names(eliminate_common_subexpressions(b.finish())), "exp " + name + " " + name + " add exp add");
  }
}

TEST(EliminateCommonSubexpressions, TakesRandomBitsOfOneStateAsOne) {
  Builder b("g");
  const Value state = b.parameter("state", {DType::u64, {2}});
  for (const char* name : {"a", "b"})
    b.output(name, b.rng_bit_generator({state}, {.dtype = DType::u32, .dims = {4}}).at(1));
  EXPECT_EQ(op_names(eliminate_common_subexpressions(b.finish())), "rng_bit_generator");
}

}  // namespace
}  // namespace alate::graph
