// Programs: their types, what is refused, their text.
#include "graph/program/program.h"

#include "graph/text/program_text.h"
#include "tests/unit/graph/run_op.h"

namespace alate::graph {
namespace {

constexpr std::int64_t kAny = ValueType::kAny;

std::shared_ptr<const Graph> shared(Graph graph) { return std::make_shared<const Graph>(std::move(graph)); }

// x [n, 4] + 1
std::shared_ptr<const Graph> one_more() {
  Builder b("one more");
  const Value x = b.parameter("x", {DType::f32, {b.dim("n"), 4}});
  b.output("y", b.add({x, scalar_like(b, 1, x)}));
  return shared(b.finish());
}

std::shared_ptr<const Program> with_one_graph(std::shared_ptr<const Graph> graph, const ValueType& type) {
  ProgramBuilder builder("part");
  const ProgramValue x = builder.input("x", type);
  builder.output("y", builder.run(std::move(graph), {x}).front());
  return std::make_shared<const Program>(builder.finish());
}

std::shared_ptr<const Graph> is_below(float limit) {
  Builder b("is below");
  const Value x = b.parameter("x", {DType::f32, {b.dim("n"), 4}});
  const Value flat = b.reduce_max({x}, {.axes = {0, 1}});
  b.output("y", b.less({flat, b.scalar(DType::f32, limit)}));
  return shared(b.finish());
}

const ValueType kRows{DType::f32, {kAny, 4}};

Program everything() {
  ProgramBuilder builder("everything");
  const ProgramValue x = builder.input("x", kRows);
  const ProgramValue more = builder.run(one_more(), {x}).front();
  const ProgramValue places = builder.host(HostOp::nonzero, {more}).front();
  const ProgramValue counted =
      builder.while_loop({more}, with_one_graph(is_below(9), kRows), with_one_graph(one_more(), kRows)).front();
  const ProgramValue condition = builder.run(is_below(3), {x}).front();
  const auto part = with_one_graph(one_more(), kRows);
  const ProgramValue chosen = builder.if_else({condition, counted}, part, part).front();
  builder.output("places", places);
  builder.output("chosen", chosen);
  return builder.finish();
}

TEST(Program, InfersTypes) {
  const Program program = everything();
  EXPECT_EQ(to_string(program.types()[1]), "f32[?,4]");
  EXPECT_EQ(to_string(program.types()[2]), "i64[2,?]");
  EXPECT_EQ(to_string(program.types()[program.outputs()[1].value]), "f32[?,4]");
  EXPECT_EQ(program.depth(), 1);
}

TEST(Program, KnowsWhereEachValueIsReadLast) {
  const Program program = everything();
  std::vector<std::vector<ProgramValue>> last_uses;
  for (const ProgramStep& step : program.steps()) last_uses.push_back(step.last_uses);
  // %0 x, %1 more, %2 places (an output), %3 counted, %4 condition, %5 chosen (an output)
  EXPECT_EQ(last_uses, (std::vector<std::vector<ProgramValue>>{{}, {}, {1}, {0}, {4, 3}}));
}

TEST(Program, HasAText) {
  const Program program = everything();
  const std::string text = print_program(program);
  EXPECT_NE(text.find("%2 = nonzero (%1)\n"), std::string::npos) << text;
  const Program parsed = parse_program(text);
  EXPECT_EQ(print_program(parsed), text);
  EXPECT_EQ(parsed.fingerprint(), program.fingerprint());
}

TEST(Program, RefusesWhatDoesNotFit) {
  const auto refused = [](const auto& build) {
    ProgramBuilder builder("p");
    const ProgramValue x = builder.input("x", kRows), flag = builder.input("flag", {DType::boolean, {}});
    return refusal([&] { build(builder, x, flag); });
  };
  using B = ProgramBuilder&;
  using V = ProgramValue;
  EXPECT_EQ(refused([](B b, V, V flag) { b.run(one_more(), {flag}); }),
            "invalid_argument: program 'p', step 0 (run one more): value 0 is bool[] and must be f32[?,4]");
  EXPECT_EQ(refused([](B b, V x, V) {
              b.run(one_more(), {x, x});
            }),
            "invalid_argument: program 'p', step 0 (run one more): takes 1 values, not 2");
  EXPECT_EQ(refused([](B b, V, V) { b.host(HostOp::sizes, {7}); }),
            "invalid_argument: program 'p', step 0 (sizes): reads a value that no earlier step makes");
  EXPECT_EQ(refused([](B b, V x, V) {
              b.host(HostOp::cut, {x, x, x});
            }),
            "invalid_argument: program 'p', step 0 (cut): cut: starts and limits must be i32 or i64 [2]");
  EXPECT_NE(refused([](B b, V x, V) {
              const auto part = with_one_graph(one_more(), kRows);
              b.while_loop({x}, part, part);
            }).find("its condition must give one bool scalar"),
            std::string::npos);
  EXPECT_NE(
      refused([](B b, V, V) { b.while_loop({}, with_one_graph(one_more(), kRows), nullptr); }).find("an empty part"),
      std::string::npos);
  EXPECT_NE(refused([](B b, V x, V flag) {
              b.if_else({flag, x}, with_one_graph(one_more(), kRows), with_one_graph(is_below(1), kRows));
            }).find("of the same types and ranks"),
            std::string::npos);
  EXPECT_NE(refused([](B b, V, V) { b.input("x", kRows); }).find("two inputs are named 'x'"), std::string::npos);
  EXPECT_NE(refused([](B b, V x, V) {
              b.output("y", x);
              b.output("y", x);
            }).find("two outputs are named 'y'"),
            std::string::npos);
}

TEST(Program, RefusesWrongTexts) {
  const auto where = [](const std::string& body) {
    return refusal([&] { parse_program("program \"p\" {" + body + "}"); });
  };
  EXPECT_NE(where("%1 = input \"x\" : f32[]").find("line 1, column 14: values must be in order"), std::string::npos);
  EXPECT_NE(where("%0 = input \"x\" : f32[-2]").find("an extent is negative"), std::string::npos);
  EXPECT_NE(where("%0 = input \"x\" : f32[?] %1 = nothing (%0)").find("no step of that name"), std::string::npos);
  EXPECT_NE(where("%0 = input \"x\" : f32[?] %1, %2 = sizes (%0)").find("the step has 1 results"), std::string::npos);
  EXPECT_NE(where("%0 = input \"x\" : f32[?] %1 = sizes (%1)").find("not defined before its use"), std::string::npos);
  std::string nested;
  for (int i = 0; i < 40; ++i) nested += "%0 = if program \"q\" {";
  EXPECT_NE(where(nested).find("programs are nested too deeply"), std::string::npos);
}

TEST(HostOps, ComputeWhatTheySay) {
  const Tensor x = Tensor::from<float>({2, 3}, {0, 5, -1, 0, 0, 5});
  const auto one = [](HostOp op, std::vector<Tensor> operands) { return run_host_op(op, operands).front(); };
  EXPECT_EQ(values_of<std::int64_t>(one(HostOp::sizes, {x})), (std::vector<std::int64_t>{2, 3}));
  const Tensor places = one(HostOp::nonzero, {x});
  EXPECT_EQ(places.shape(), (Shape{DType::i64, {2, 3}}));
  EXPECT_EQ(values_of<std::int64_t>(places), (std::vector<std::int64_t>{0, 0, 1, 1, 2, 2}));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> sorted = values_of<float>(one(HostOp::unique, {row<float>({3, nan, -1, 3, nan})}));
  ASSERT_EQ(sorted.size(), 3U);
  EXPECT_EQ((std::vector<float>{sorted[0], sorted[1]}), (std::vector<float>{-1, 3}));
  EXPECT_NE(sorted[2], sorted[2]);
  const Tensor part = one(HostOp::cut, {x, row<std::int64_t>({0, 1}), row<std::int64_t>({1, 9})});
  EXPECT_EQ(part.shape(), (Shape{DType::f32, {1, 2}}));
  EXPECT_EQ(values_of<float>(part), (std::vector<float>{5, -1}));
  EXPECT_EQ(one(HostOp::cut, {x, row<std::int32_t>({2, 0}), row<std::int32_t>({1, 3})}).shape(),
            (Shape{DType::f32, {0, 3}}));
  const Tensor scalar = one(HostOp::cut, {Tensor::from<float>({}, {7}), row<std::int64_t>({}), row<std::int64_t>({})});
  EXPECT_EQ(values_of<float>(scalar), std::vector<float>{7});
}

TEST(HostOps, RefuseTypesThatTheyDoNotTake) {
  const auto said = [](HostOp op, std::vector<Tensor> operands) { return refusal([&] { run_host_op(op, operands); }); };
  EXPECT_NE(said(HostOp::nonzero, {Tensor::zeros({DType::c64, {2}})}).find("nonzero: x has dtype c64"),
            std::string::npos);
  EXPECT_NE(said(HostOp::unique, {Tensor::zeros({DType::u4, {2}})}).find("unique: x has dtype u4"), std::string::npos);
  EXPECT_NE(said(HostOp::sizes, {}).find("takes 1 operands"), std::string::npos);
  EXPECT_NE(said(HostOp::cut, {row<float>({1}), row<std::int64_t>({0, 0}), row<std::int64_t>({1})}).find("must be i32"),
            std::string::npos);
}

}  // namespace
}  // namespace alate::graph
