// Programs, and graphs whose sizes are forms, on every backend that is here.
#include "backends/compile_program.h"

#include <gtest/gtest.h>

#include <atomic>

#include "alate/error.h"
#include "backends/registry.h"
#include "graph/builder.h"
#include "graph/interpreter.h"
#include "tests/unit/base/expect_error.h"

namespace alate::backends {
namespace {

using graph::Builder;
using graph::HostOp;
using graph::Program;
using graph::ProgramBuilder;
using graph::ProgramValue;
using graph::Value;
using graph::ValueType;

std::shared_ptr<const graph::Graph> shared(graph::Graph graph) {
  return std::make_shared<const graph::Graph>(std::move(graph));
}

class OnBackends : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::vector<Device> devices = backend().devices();
    if (devices.empty() || devices[0].unusable) GTEST_SKIP() << GetParam() << " is not installed here";
  }
  Backend& backend() { return get_backend(GetParam()); }
  /// The outputs of a run for these inputs.
  std::vector<Buffer> run(Executable& program, const std::vector<Buffer>& inputs,
                          base::Cancellation cancellation = base::Cancellation::never()) {
    std::vector<Buffer> outputs(program.outputs().size());
    program.run(inputs, outputs, {.cancellation = cancellation});
    return outputs;
  }
  Tensor host(const Buffer& buffer) { return buffer.host() != nullptr ? *buffer.host() : backend().download(buffer); }
};

// Rows of x whose first element is positive, doubled: the number of rows depends on data.
Program doubled_positive_rows() {
  Builder is_positive("is positive"), doubled("doubled");
  const Value x = is_positive.parameter("x", {DType::f32, {is_positive.dim("rows"), 3}});
  const Value first =
      is_positive.slice({x}, {.starts = {0, 0}, .limits = {is_positive.shape(x).dims[0], 1}, .strides = {}});
  const Value flat = is_positive.reshape({first}, {.dims = {is_positive.shape(x).dims[0]}});
  is_positive.output("chosen", is_positive.greater({flat, scalar_like(is_positive, 0, flat)}));
  const Value all = doubled.parameter("x", {DType::f32, {doubled.dim("rows"), 3}});
  const Value places = doubled.parameter("places", {DType::i64, {1, doubled.dim("chosen")}});
  const Value taken = take_rows(doubled, all, doubled.reshape({places}, {.dims = {doubled.shape(places).dims[1]}}));
  doubled.output("y", doubled.mul({taken, scalar_like(doubled, 2, taken)}));
  ProgramBuilder builder("doubled positive rows");
  const ProgramValue input = builder.input("x", {DType::f32, {ValueType::kAny, 3}});
  const ProgramValue chosen = builder.run(shared(is_positive.finish()), {input}).front();
  const ProgramValue where = builder.host(HostOp::nonzero, {chosen}).front();
  builder.output("y", builder.run(shared(doubled.finish()), {input, where}).front());
  return builder.finish();
}

TEST_P(OnBackends, RunTwoGraphsWithAHostStepBetween) {
  const std::unique_ptr<Executable> program = compile(doubled_positive_rows(), backend(), {});
  const Tensor x = Tensor::from<float>({4, 3}, {1, 2, 3, -1, 5, 6, 0, 8, 9, 7, 1, 2});
  const std::vector<Buffer> outputs = run(*program, {x});
  const Tensor y = host(outputs.front());
  EXPECT_EQ(y.shape(), (Shape{DType::f32, {2, 3}}));
  EXPECT_EQ(std::vector<float>(y.values<float>().begin(), y.values<float>().end()),
            (std::vector<float>{2, 4, 6, 14, 2, 4}));
}

// A state that grows by one row a turn until it has `most` rows.
Program growing(std::int64_t most) {
  Builder grown("grown"), sizes("is smaller");
  const Value rows = grown.parameter("rows", {DType::f32, {grown.dim("n", 1), 2}});
  const Value last = grown.dynamic_slice({rows, grown.scalar(DType::i64, 1 << 20), grown.scalar(DType::i64, 0)},
                                         {.slice_sizes = {1, 2}});
  grown.output("rows", grown.concatenate({rows, grown.add({last, last})}, {.axis = 0}));
  const Value extents = sizes.parameter("extents", {DType::i64, {2}});
  const Value count =
      sizes.reshape({sizes.slice({extents}, {.starts = {0}, .limits = {1}, .strides = {}})}, {.dims = {}});
  sizes.output("y", sizes.less({count, sizes.scalar(DType::i64, static_cast<double>(most))}));
  const ValueType type{DType::f32, {ValueType::kAny, 2}};
  ProgramBuilder condition("condition"), body("body"), whole("growing");
  const ProgramValue asked = condition.input("rows", type);
  condition.output("y",
                   condition.run(shared(sizes.finish()), {condition.host(HostOp::sizes, {asked}).front()}).front());
  body.output("rows", body.run(shared(grown.finish()), {body.input("rows", type)}).front());
  const ProgramValue start = whole.input("rows", type);
  whole.output("rows", whole
                           .while_loop({start}, std::make_shared<const Program>(condition.finish()),
                                       std::make_shared<const Program>(body.finish()))
                           .front());
  return whole.finish();
}

TEST_P(OnBackends, LoopsCarryValuesThatGrow) {
  const std::unique_ptr<Executable> program = compile(growing(4), backend(), {});
  const std::vector<Buffer> outputs = run(*program, {Tensor::from<float>({1, 2}, {1, 3})});
  const Tensor rows = host(outputs.front());
  EXPECT_EQ(std::vector<float>(rows.values<float>().begin(), rows.values<float>().end()),
            (std::vector<float>{1, 3, 2, 6, 4, 12, 8, 24}));
}

TEST_P(OnBackends, EndALoopThatNobodyWaitsFor) {
  const std::unique_ptr<Executable> program = compile(growing(1 << 20), backend(), {});
  std::atomic<int> asked = 0;
  const auto is_left = [&] { return ++asked > 40; };
  const Error error = base::error_of([&] {
    run(*program, {Tensor::from<float>({1, 2}, {1, 3})}, base::Cancellation::when(is_left));
  });
  EXPECT_EQ(error.code(), ErrorCode::cancelled);
}

TEST_P(OnBackends, RefuseInputsOfOtherTypes) {
  const std::unique_ptr<Executable> program = compile(growing(4), backend(), {});
  const auto message = [&](const std::vector<Buffer>& inputs) {
    return base::error_of([&] { run(*program, inputs); }).message();
  };
  EXPECT_EQ(message({Tensor::zeros({DType::f32, {1, 3}})}),
            "input 'rows' of program 'growing' is f32[1,3] and must be f32[?,2]");
  EXPECT_EQ(message({}), "program 'growing' was given 0 inputs and takes 1");
}

TEST_P(OnBackends, AProgramOfOneGraphIsTheGraphsExecutable) {
  Builder b("doubled");
  const Value x = b.parameter("x", {DType::f32, {b.dim("rows"), 3}});
  b.output("y", b.add({x, x}));
  const auto graph = shared(b.finish());
  ProgramBuilder builder("doubled");
  const ProgramValue input = builder.input("x", {DType::f32, {ValueType::kAny, 3}});
  builder.output("y", builder.run(graph, {input}).front());
  const std::unique_ptr<Executable> program = compile(builder.finish(), backend(), {});
  EXPECT_EQ(program->outputs().front().shape, graph->shape(graph->outputs().front().value));
}

// Writes row 0 of a cache of rows as often as a counter says.
Program writing_rows() {
  Builder written("written"), counted("counted");
  const Value cache = written.parameter("cache", {DType::f32, {8, 4}}, true);
  const Value turn = written.parameter("turn", {DType::f32, {1, 4}});
  const Value next = written.add({turn, scalar_like(written, 1, turn)});
  written.output(
      "cache",
      written.dynamic_update_slice({cache, next, written.scalar(DType::i64, 0), written.scalar(DType::i64, 0)}), 0);
  written.output("turn", next);
  const Value last = counted.parameter("turn", {DType::f32, {1, 4}});
  const Value number =
      counted.reshape({counted.slice({last}, {.starts = {0, 0}, .limits = {1, 1}, .strides = {}})}, {.dims = {}});
  counted.output("y", counted.less({number, scalar_like(counted, 3, number)}));
  const ValueType cache_type{DType::f32, {8, 4}}, turn_type{DType::f32, {1, 4}};
  ProgramBuilder condition("condition"), body("body"), whole("writing");
  condition.input("cache", cache_type);
  condition.output("y", condition.run(shared(counted.finish()), {condition.input("turn", turn_type)}).front());
  const ProgramValue old = body.input("cache", cache_type);
  const std::vector<ProgramValue> results = body.run(shared(written.finish()), {old, body.input("turn", turn_type)});
  body.output("cache", results[0]);
  body.output("turn", results[1]);
  const ProgramValue start = whole.input("cache", cache_type);
  const std::vector<ProgramValue> ended =
      whole.while_loop({start, whole.input("turn", turn_type)}, std::make_shared<const Program>(condition.finish()),
                       std::make_shared<const Program>(body.finish()));
  whole.output("cache", ended[0]);
  whole.output("turn", ended[1]);
  return whole.finish();
}

TEST_P(OnBackends, WriteStatesOfLoopsInTheMemoryThatTheCallerGivesUp) {
  const std::unique_ptr<Executable> program = compile(writing_rows(), backend(), {});
  const Tensor kept = Tensor::zeros({DType::f32, {8, 4}}), turn = Tensor::zeros({DType::f32, {1, 4}});
  const std::vector<Buffer> apart = run(*program, {kept, turn});
  EXPECT_EQ(host(apart[0]).values<float>()[3], 3);
  EXPECT_EQ(kept.values<float>()[3], 0) << "an input that was not given up";
  const Tensor cache = Tensor::zeros({DType::f32, {8, 4}});
  std::vector<Buffer> outputs = {cache, {}};
  program->run(std::vector<Buffer>{cache, turn}, outputs, {.cancellation = base::Cancellation::never()});
  EXPECT_TRUE(outputs[0].host()->shares_storage_with(cache));
  EXPECT_EQ(cache.values<float>()[3], 3);
  ASSERT_EQ(program->facts().aliases.size(), 1U);
  EXPECT_EQ(program->facts().aliases[0].in_place, GetParam() == "cpu" || GetParam() == "xla");
}

// Every kind of form, as extents of results and in attributes.
graph::Graph of_forms() {
  Builder b("forms");
  const Dim n = b.dim("n", 2), m = b.dim("m", 1);
  graph::DimTable& dims = *b.dims();
  const Value x = b.parameter("x", {DType::f32, {n, 3}}), y = b.parameter("y", {DType::f32, {m, 3}});
  const Value both = b.concatenate({x, y, x}, {.axis = 0});
  b.output("both", both);
  b.output("odd", b.slice({both}, {.starts = {1, 0}, .limits = {b.shape(both).dims[0], 3}, .strides = {2, 1}}));
  b.output("behind", b.slice({both}, {.starts = {n, 0}, .limits = {b.shape(both).dims[0], 3}, .strides = {}}));
  b.output("flat", b.reshape({both}, {.dims = {dims.of(dims.form(b.shape(both).dims[0]) * 3)}}));
  const Value padded = b.pad({x, b.scalar(DType::f32, 7)}, {.low = {2, 0}, .high = {1, 0}, .interior = {1, 0}});
  b.output("padded", padded);
  const Value windows =
      b.reduce_window({b.pad({y, b.scalar(DType::f32, 1)}, {.low = {0, 0}, .high = {4, 0}, .interior = {}})},
                      {.reduction = graph::Reduction::sum,
                       .window_dimensions = {3, 1},
                       .strides = {2, 1},
                       .base_dilations = {},
                       .window_dilations = {},
                       .padding_low = {},
                       .padding_high = {}});
  b.output("windows", windows);
  const Dim smaller = dims.of(dims.smaller(dims.form(n), dims.form(m))),
            area = dims.of(dims.product(dims.form(n), dims.form(m)));
  const Value edge = b.broadcast_in_dim({b.scalar(DType::f32, 7)}, {.dims = {smaller, 3}, .mapping = {}});
  b.output("padded by a size", b.concatenate({edge, x, edge}, {.axis = 0}));
  b.output("counted", b.iota({}, {.dtype = DType::i32, .dims = {smaller, area}, .axis = 1}));
  b.output("sum",
           b.reduce_sum({b.broadcast_in_dim({both}, {.dims = {b.shape(both).dims[0], 3, smaller}, .mapping = {0, 1}})},
                        {.axes = {0, 2}}));
  return b.finish();
}

TEST_P(OnBackends, ComputeSizesThatAreForms) {
  const graph::Graph graph = of_forms();
  const std::unique_ptr<Executable> executable = backend().compile(graph, {});
  for (const auto& [n, m] : std::vector<std::pair<std::int64_t, std::int64_t>>{{2, 1}, {5, 3}, {3, 8}}) {
    std::vector<Tensor> inputs;
    for (const std::int64_t rows : {n, m}) {
      Tensor& input = inputs.emplace_back(Tensor::zeros({DType::f32, {rows, 3}}));
      float next = static_cast<float>(rows);
      for (float& value : input.mutable_values<float>()) value = next++;
    }
    std::vector<Buffer> given(inputs.begin(), inputs.end()), outputs(graph.outputs().size());
    executable->run(given, outputs, {.cancellation = base::Cancellation::never()});
    const std::vector<Tensor> wanted = graph::interpret(graph, inputs, base::Cancellation::never());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const Tensor found = host(outputs[i]);
      EXPECT_EQ(found.shape(), wanted[i].shape()) << graph.outputs()[i].name;
      EXPECT_TRUE(std::ranges::equal(found.bytes(), wanted[i].bytes()))
          << graph.outputs()[i].name << ", " << n << " " << m;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, OnBackends, testing::Values("reference", "cpu", "onnx", "xla"),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace alate::backends
