// Activations, norms and softmax as exporters write them out.
#include <numbers>

#include "graph/decompose.h"
#include "tests/unit/graph/passes/check_pass.h"

namespace alate::graph {
namespace {

Graph normalized(const Graph& graph) {
  return run_passes(graph,
                    {{"simplify_arithmetic", simplify_arithmetic},
                     {"sink_transposes", sink_transposes},
                     {"simplify_shapes", simplify_shapes},
                     {"eliminate_common_subexpressions", eliminate_common_subexpressions},
                     {"fuse_activations", fuse_activations},
                     {"fuse_norms", fuse_norms},
                     {"fuse_softmax", fuse_softmax},
                     {"eliminate_dead_nodes", eliminate_dead_nodes}},
                    nullptr);
}

// A function of x [2, n, 4], with n named, and what fusions leave of it.
class Fused {
 public:
  Value x() const { return x_; }
  Builder& b() { return b_; }
  Value number(double value) { return scalar_like(b_, value, x_); }
  Value row(std::string name) { return broadcast_to(b_, b_.parameter(std::move(name), {dtype_, {4}}), dims_); }
  Value kept_sum(Value value) { return reduce_keep(b_, Op::reduce_sum, value, {2}); }
  Value mean(Value value) {
    const Value sum = kept_sum(value);
    return b_.div({sum, scalar_like(b_, 4, sum)});
  }
  Value wide(Value rows) { return broadcast_to(b_, rows, dims_); }
  Value plus(Value value, double number) { return b_.add({value, scalar_like(b_, number, value)}); }

  explicit Fused(DType dtype = DType::f32) : dtype_(dtype) {}
  std::string left(Value y) {
    b_.output("y", y);
    const Graph before = b_.finish();
    last_ = normalized(before);
    if (dtype_ == DType::f32) expect_same_outputs(before, last_, wave_inputs(before), 2e-6f);
    return op_names(last_);
  }
  const Graph& graph() const { return last_; }

 private:
  DType dtype_;
  Builder b_{"g"};
  Dims dims_ = {2, b_.dim("n"), 4};
  Value x_ = b_.parameter("x", {dtype_, dims_});
  Graph last_;
};

TEST(FuseActivations, MakesGeluOfTorchsExportInText) {
  expect_pass(fuse_activations, R"(graph "g" {
    @0 = "root" : f32[] [1.4142135381698608]
    @1 = "one" : f32[] [1]
    @2 = "half" : f32[] [0.5]
    %0 = parameter "x" : f32[3]
    %1 = constant @0
    %2 = broadcast_in_dim(%1) {dims = [3], mapping = []} : f32[3]
    %3 = div(%0, %2) : f32[3]
    %4 = erf(%3) : f32[3]
    %5 = constant @1
    %6 = broadcast_in_dim(%5) {dims = [3], mapping = []} : f32[3]
    %7 = add(%4, %6) : f32[3]
    %8 = mul(%0, %7) : f32[3]
    %9 = constant @2
    %10 = broadcast_in_dim(%9) {dims = [3], mapping = []} : f32[3]
    %11 = mul(%8, %10) : f32[3]
    output "y" = %11
  })",
              R"(graph "g" {
    %0 = parameter "x" : f32[3]
    %1 = gelu(%0) {tanh_approximation = false} : f32[3]
    output "y" = %1
  })",
              1e-6f);
}

TEST(FuseActivations, KnowsEverySpellingOfGeluByErf) {
  constexpr double kRoot = std::numbers::sqrt2 / 2;
  for (int order = 0; order < 8; ++order) {
    Fused f;
    Builder& b = f.b();
    const auto either = [&](Op op, Value first, Value second, int bit) {
      return b
          .emit(op, (order >> bit & 1) != 0 ? std::vector{first, second} : std::vector{second, first}, NoAttributes{})
          .front();
    };
    const Value curve = either(Op::add, b.erf({either(Op::mul, f.x(), f.number(kRoot), 0)}), f.number(1), 1);
    EXPECT_EQ(f.left(either(Op::mul, either(Op::mul, f.number(0.5), f.x(), 2), curve, 0)), "gelu") << order;
  }
  Fused split;  // x · (0.5 + 0.5 · erf)
  Builder& b = split.b();
  const Value half = b.mul({b.erf({b.mul({split.x(), split.number(kRoot)})}), split.number(0.5)});
  EXPECT_EQ(split.left(b.mul({b.add({half, split.number(0.5)}), split.x()})), "gelu");
}

TEST(FuseActivations, KnowsEverySpellingOfGeluByTanh) {
  const double scale = std::sqrt(2 / std::numbers::pi);
  for (const int form : {0, 1, 2, 3}) {
    Fused f;
    Builder& b = f.b();
    const Value x = f.x(), cubic = f.number(0.044715);
    Value inner;
    if (form == 0) inner = b.add({x, b.mul({cubic, b.pow({x, f.number(3)})})});
    if (form == 1) inner = b.add({b.mul({b.mul({b.mul({x, cubic}), x}), x}), x});
    if (form == 2) inner = b.add({b.mul({b.mul({b.mul({x, x}), x}), cubic}), x});
    if (form == 3) inner = b.mul({x, b.add({f.number(1), b.mul({cubic, b.pow({x, f.number(2)})})})});
    const Value curve = b.tanh({b.mul({f.number(scale), inner})});
    EXPECT_EQ(f.left(b.mul({b.mul({f.number(0.5), x}), b.add({f.number(1), curve})})), "gelu") << form;
    EXPECT_TRUE(std::get<Gelu>(f.graph().nodes().back().attributes).tanh_approximation);
  }
}

TEST(FuseActivations, LeavesOtherConstantsAlone) {
  for (const auto& [scale, offset, half] :
       {std::tuple{0.7, 1.0, 0.5}, {std::numbers::sqrt2 / 2, 1.1, 0.5}, {std::numbers::sqrt2 / 2, 1.0, 0.6}}) {
    Fused f;
    Builder& b = f.b();
    const Value curve = b.add({b.erf({b.mul({f.x(), f.number(scale)})}), f.number(offset)});
    EXPECT_EQ(f.left(b.mul({b.mul({f.x(), f.number(half)}), curve})).find("gelu"), std::string::npos);
  }
}

TEST(FuseActivations, LeavesNarrowFloatsAlone) {
  Fused f(DType::f16);
  EXPECT_EQ(f.left(f.b().mul({f.x(), f.b().logistic({f.x()})})), "logistic mul");
}

TEST(FuseActivations, MakesSiluAndLogisticOfTheirFormulas) {
  {
    Fused f;
    EXPECT_EQ(f.left(f.b().mul({f.b().logistic({f.x()}), f.x()})), "silu");
  }
  {
    Fused f;
    EXPECT_EQ(f.left(f.b().div({f.x(), f.plus(f.b().exp({f.b().neg({f.x()})}), 1)})), "silu");
  }
  {
    Fused f;
    Builder& b = f.b();
    const Value inverse = b.div({f.number(1), f.plus(b.exp({b.mul({f.x(), f.number(-1)})}), 1)});
    EXPECT_EQ(f.left(b.mul({f.x(), inverse})), "logistic mul");  // a second run makes silu of it
  }
}

TEST(FuseDense, TakesQuickGelu) {
  Builder b("g");
  const Value x = b.parameter("x", {DType::f32, {2, 3}});
  const Value y = b.dense({x, b.constant(waves({DType::f32, {5, 3}}, 1))});
  b.output("y", b.mul({b.logistic({b.mul({scalar_like(b, 1.702, y), y})}), y}));
  const Graph before = b.finish(), after = eliminate_dead_nodes(fuse_dense(before));
  EXPECT_EQ(op_names(after), "dense");
  EXPECT_EQ(std::get<Dense>(after.nodes().back().attributes).activation, Activation::quick_gelu);
  expect_same_outputs(before, after, wave_inputs(before), 2e-6f);
}

TEST(FuseDense, TakesABiasThatHasExtentsOfOne) {
  Builder b("g");
  const Value x = b.parameter("x", {DType::f32, {2, 3}});
  const Value y = b.dense({x, b.constant(waves({DType::f32, {5, 3}}, 1))});
  b.output("y", b.add({broadcast_to(b, b.constant(waves({DType::f32, {1, 5}}, 2)), {2, 5}), y}));
  const Graph before = b.finish(), after = run_passes(before, standard_passes(), nullptr);
  EXPECT_EQ(op_names(after), "dense");
  EXPECT_TRUE(std::get<Dense>(after.nodes().back().attributes).has_bias);
  expect_same_outputs(before, after, wave_inputs(before), 2e-6f);
}

TEST(FuseNorms, MakesLayerNormOfEverySpelling) {
  for (const int variance : {0, 1}) {
    for (const int root : {0, 1, 2, 3}) {
      for (const int affine : {0, 1, 2}) {
        Fused f;
        Builder& b = f.b();
        const Value first = b.sub({f.x(), f.wide(f.mean(f.x()))}), again = b.sub({f.x(), f.wide(f.mean(f.x()))});
        const Value square = variance == 0 ? b.mul({first, again}) : b.pow({again, f.number(2)});
        const Value sum = f.plus(f.mean(square), 1e-5);
        Value y;
        if (root == 0) y = b.mul({first, f.wide(b.rsqrt({sum}))});
        if (root == 1) y = b.div({first, f.wide(b.sqrt({sum}))});
        if (root == 2) y = b.mul({f.wide(b.div({scalar_like(b, 1, sum), b.sqrt({sum})})), first});
        if (root == 3) y = b.mul({first, f.wide(b.pow({sum, scalar_like(b, -0.5, sum)}))});
        if (affine > 0) y = b.mul({f.row("scale"), y});
        if (affine > 1) y = b.add({y, f.row("shift")});
        EXPECT_EQ(f.left(y), "layer_norm") << variance << root << affine;
      }
    }
  }
}

TEST(FuseNorms, TakesAScaleThatHasExtentsOfOne) {
  Fused f;
  Builder& b = f.b();
  const Value factor = b.rsqrt({f.plus(f.mean(b.mul({f.x(), f.x()})), 1e-3)});
  const Value scale = f.wide(b.parameter("scale", {DType::f32, {1, 1, 4}}));
  EXPECT_EQ(f.left(b.mul({scale, b.mul({f.x(), f.wide(factor)})})), "reshape rms_norm");
}

TEST(FuseNorms, MakesRmsNormWithItsEpsilon) {
  Fused f;
  Builder& b = f.b();
  const Value factor = b.rsqrt({f.plus(f.mean(b.mul({f.x(), f.x()})), 1e-3)});
  EXPECT_EQ(f.left(b.mul({f.row("scale"), b.mul({f.x(), f.wide(factor)})})), "rms_norm");
  EXPECT_FLOAT_EQ(static_cast<float>(std::get<Norm>(f.graph().nodes().back().attributes).epsilon), 1e-3f);
}

TEST(FuseNorms, LeavesOtherAxesAndOtherCountsAlone) {
  {
    Fused f;
    Builder& b = f.b();
    const Value sum = f.kept_sum(b.mul({f.x(), f.x()}));
    const Value factor = b.rsqrt({f.plus(b.div({sum, scalar_like(b, 3, sum)}), 1e-3)});
    EXPECT_EQ(f.left(b.mul({f.x(), f.wide(factor)})).find("norm"), std::string::npos);
  }
  {
    Fused f;
    Builder& b = f.b();
    const Value sum = reduce_keep(b, Op::reduce_sum, b.mul({f.x(), f.x()}), {0});
    const Value factor = b.rsqrt({f.plus(b.div({sum, scalar_like(b, 2, sum)}), 1e-3)});
    EXPECT_EQ(f.left(b.mul({f.x(), f.wide(factor)})).find("norm"), std::string::npos);
  }
}

TEST(FuseSoftmax, MakesItOfItsFormulaInText) {
  expect_pass(fuse_softmax, R"(graph "g" {
    %0 = parameter "x" : f32[2,3]
    %1 = reduce_max(%0) {axes = [1]} : f32[2]
    %2 = broadcast_in_dim(%1) {dims = [2, 3], mapping = [0]} : f32[2,3]
    %3 = sub(%0, %2) : f32[2,3]
    %4 = exp(%3) : f32[2,3]
    %5 = reduce_sum(%4) {axes = [1]} : f32[2]
    %6 = broadcast_in_dim(%5) {dims = [2, 3], mapping = [0]} : f32[2,3]
    %7 = div(%4, %6) : f32[2,3]
    output "y" = %7
  })",
              R"(graph "g" {
    %0 = parameter "x" : f32[2,3]
    %1 = softmax(%0) {axis = 1} : f32[2,3]
    output "y" = %1
  })",
              1e-6f);
}

TEST(FuseSoftmax, MakesItOverAnyAxisAndWithAnInverse) {
  for (const std::int64_t axis : {0, 1, 2}) {
    Fused f;
    Builder& b = f.b();
    const Value largest = f.wide(reduce_keep(b, Op::reduce_max, f.x(), {axis}));
    const Value exponentials = b.exp({b.sub({f.x(), largest})});
    const Value sum = reduce_keep(b, Op::reduce_sum, exponentials, {axis});
    EXPECT_EQ(f.left(b.mul({f.wide(b.div({scalar_like(b, 1, sum), sum})), exponentials})), "softmax");
    EXPECT_EQ(std::get<Axis>(f.graph().nodes().back().attributes).axis, axis);
  }
}

TEST(FuseSoftmax, MakesLogSoftmax) {
  Fused f;
  Builder& b = f.b();
  const Value shifted = b.sub({f.x(), f.wide(reduce_keep(b, Op::reduce_max, f.x(), {2}))});
  EXPECT_EQ(f.left(b.sub({shifted, f.wide(b.log({f.kept_sum(b.exp({shifted}))}))})), "log_softmax");
}

TEST(FuseSoftmax, LeavesSumsOverAnotherAxisAlone) {
  Fused f;
  Builder& b = f.b();
  const Value exponentials = b.exp({b.sub({f.x(), f.wide(reduce_keep(b, Op::reduce_max, f.x(), {0}))})});
  EXPECT_EQ(f.left(b.div({exponentials, f.wide(f.kept_sum(exponentials))})).find("softmax"), std::string::npos);
}

TEST(Fusions, FindAgainWhatDecompositionsWriteOut) {
  const auto found_again = [](const std::function<Value(Fused&)>& function) {
    Fused f;
    f.b().output("y", function(f));
    const Graph fused = f.b().finish();
    const Graph plain = decompose(fused, [](const Graph&, const Node&) { return false; });
    const Graph again = normalized(plain);
    expect_same_outputs(plain, again, wave_inputs(plain), 2e-6f);
    return op_names(again);
  };
  const auto scale = [](Fused& f) { return f.b().parameter("scale", {DType::f32, {4}}); };
  EXPECT_EQ(found_again([](Fused& f) { return f.b().gelu({f.x()}); }), "gelu");
  EXPECT_EQ(found_again([](Fused& f) { return f.b().gelu({f.x()}, {.tanh_approximation = true}); }), "gelu");
  EXPECT_EQ(found_again([](Fused& f) { return f.b().silu({f.x()}); }), "silu");
  EXPECT_EQ(found_again([](Fused& f) { return f.b().softmax({f.x()}, {.axis = 1}); }), "softmax");
  EXPECT_EQ(found_again([](Fused& f) { return f.b().log_softmax({f.x()}, {.axis = 2}); }), "log_softmax");
  EXPECT_EQ(found_again([&](Fused& f) { return f.b().rms_norm({f.x(), scale(f)}); }), "rms_norm");
  EXPECT_EQ(found_again([&](Fused& f) {
              const Value row = scale(f);
              return f.b().layer_norm({f.x(), row, row});
            }),
            "layer_norm");
}

}  // namespace
}  // namespace alate::graph
