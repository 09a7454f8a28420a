#include "graph/text/text.h"

#include <bit>
#include <cmath>
#include <limits>
#include <set>

#include "tests/unit/graph/example_graphs.h"
#include "tests/unit/graph/make_tensors.h"

namespace alate::graph {
namespace {

void expect_round_trip(const Graph& graph, const ConstantResolver& resolver = {}) {
  const std::string text = print_graph(graph);
  const Graph parsed = parse_graph(text, resolver);
  EXPECT_EQ(parsed.fingerprint(), graph.fingerprint()) << text;
  EXPECT_EQ(parsed.name(), graph.name());
  EXPECT_EQ(print_graph(parsed), text);
}

// A graph whose one output is this constant.
Graph constant_graph(ConstantPtr constant) {
  Builder b("constant");
  b.output("out", b.constant(std::move(constant)));
  return b.finish();
}

std::string refused(std::string_view text) {
  return refusal([&] { parse_graph(text); });
}

TEST(GraphText, PrintsWhatAPersonCanRead) {
  Builder b("encoder");
  const Dim tokens = b.dim("tokens", 1, 512, true);
  const Value x = b.parameter("hidden states", {DType::f32, {tokens, 2}}, true);
  const Value weight = b.constant(make_constant("dense.weight", Tensor::from<float>({1, 2}, {0.5F, -1})));
  b.set_source("layer \"0\"");
  const Value y = b.dense({x, weight}, {.activation = Activation::relu});
  const Value z = b.broadcast_in_dim({y}, {.dims = {tokens, 2}, .mapping = {0, 1}});
  b.output("out", z, 0);
  EXPECT_EQ(print_graph(b.finish()), R"(graph "encoder" {
  dim tokens min 1 max 512 paddable
  %0 = parameter "hidden states" : f32[tokens,2] donatable
  @0 = "dense.weight" : f32[1,2] [0.5,-1]
  %1 = constant @0
  %2 = dense(%0, %1) {has_bias=false, has_residual=false, activation=relu} : f32[tokens,1] from "layer \"0\""
  %3 = broadcast_in_dim(%2) {dims=[tokens,2], mapping=[0,1]} : f32[tokens,2] from "layer \"0\""
  output "out" = %3 aliases "hidden states"
}
)");
}

TEST(GraphText, RoundTripsAGraphOfEveryOp) {
  std::set<Op> seen{Op::parameter, Op::constant};
  for (const Graph& graph : example_graphs()) {
    for (const Node& node : graph.nodes()) seen.insert(node.op);
    expect_round_trip(graph);
  }
  for (const OpInfo& op : all_ops()) EXPECT_TRUE(seen.contains(op.op)) << "no example of " << op.name;
}

TEST(GraphText, ReadsNamesThatFieldsHadBefore) {
  bool is_found = false;
  for (const Graph& graph : example_graphs()) {
    const std::string text = print_graph(graph);
    std::string before = text;
    for (std::size_t at = 0; (at = before.find("activation_groups", at)) != std::string::npos; ++at)
      before.replace(at, std::string_view("activation_groups").size(), "activation_runs");
    if (before == text) continue;
    is_found = true;
    EXPECT_EQ(print_graph(parse_graph(before)), text);
  }
  EXPECT_TRUE(is_found);
}

TEST(GraphText, TheParsedGraphComputesTheSame) {
  for (const Graph& graph : example_graphs()) {
    const std::vector<Tensor> inputs = example_inputs(graph);
    const std::vector<Tensor> expected = interpret(graph, inputs, base::Cancellation::never()),
                              found = interpret(parse_graph(print_graph(graph)), inputs, base::Cancellation::never());
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].shape(), expected[i].shape());
      EXPECT_TRUE(std::ranges::equal(found[i].bytes(), expected[i].bytes())) << graph.name();
    }
  }
}

TEST(GraphText, RoundTripsConstantsOfEveryDtype) {
  for (const DType dtype : all_dtypes()) {
    if (bits_of(dtype) == 0) continue;
    Tensor tensor = Tensor::zeros({dtype, {3, 16}});
    unsigned next = 1;
    for (std::byte& byte : tensor.mutable_bytes()) byte = static_cast<std::byte>((next = next * 167 + 13) >> 3);
    expect_round_trip(constant_graph(make_constant("some", tensor)));
  }
}

TEST(GraphText, RoundTripsSpecialFloats) {
  using Limits = std::numeric_limits<float>;
  const Tensor floats =
      row<float>({0, -0.0F, Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(), Limits::max(), Limits::min(),
                  Limits::denorm_min(), 0.1F, std::bit_cast<float>(0xffc00001U)});
  const Graph graph = constant_graph(make_constant("special", floats));
  EXPECT_NE(print_graph(graph).find("[0,-0,inf,-inf,nan,3.4028235e+38,1.1754944e-38,1e-45,0.1,0xffc00001]"),
            std::string::npos)
      << print_graph(graph);
  expect_round_trip(graph);
  expect_round_trip(constant_graph(make_constant("doubles", row<double>({1.0 / 3, 5e-324, std::nan("7"), 1e308}))));
}

TEST(GraphText, PrintsElementsOfEveryKind) {
  const auto printed = [](const Tensor& tensor) {
    const Graph graph = constant_graph(make_constant("c", tensor));
    expect_round_trip(graph);
    const std::string text = print_graph(graph);
    const std::size_t start = text.find(" : ") + 3;
    return text.substr(start, text.find('\n', start) - start);
  };
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Complex> numbers{{0.5, -0.0}, {-infinity, nan}};
  EXPECT_EQ(printed(stored_complex(DType::c64, numbers)), "c64[2] [(0.5,-0),(-inf,nan)]");
  EXPECT_EQ(printed(stored(DType::i4, {-8, 7, 0})), "i4[3] [-8,7,0]");
  EXPECT_EQ(printed(stored(DType::u1, {1, 0, 1})), "u1[3] [1,0,1]");
  EXPECT_EQ(printed(stored(DType::f4e2m1fn, {-0.0, 6, -1.5})), "f4e2m1fn[3] [-0,6,-1.5]");
  EXPECT_EQ(printed(stored(DType::f8e4m3fnuz, {nan, 0.5})), "f8e4m3fnuz[2] [nan,0.5]");
  EXPECT_EQ(printed(stored(DType::f8e8m0fnu, {nan, 4, 0x1p-127})), "f8e8m0fnu[3] [nan,4,5.877472e-39]");
  Tensor dirty = Tensor::zeros({DType::u4, {1}});
  dirty.mutable_bytes()[0] = std::byte{0x31};
  EXPECT_EQ(printed(dirty), "u4[1] bytes \"31\"");
}

TEST(GraphText, RefusesElementsThatADtypeDoesNotHave) {
  const auto constant = [](std::string_view text) {
    return refused("graph \"a\" { @0 = \"c\" : " + std::string(text) + " }");
  };
  EXPECT_EQ(constant("f8e4m3fn[1] [nan]"), "accepted");
  for (const std::string_view text :
       {"f8e4m3fn[1] [inf]", "f4e2m1fn[1] [nan]", "f4e2m1fn[1] [-inf]", "f4e2m1fn[1] [0x10]", "f8e8m0fnu[1] [0]",
        "f8e8m0fnu[1] [-1]", "f8e3m4[1] [99]", "i4[1] [8]", "u1[1] [2]", "c64[1] [1]", "c64[1] [(1)]", "c64[1] [(1,x)]",
        "c64[1] [(1,2]", "c64[1] [(1,2,3)]", "c64[1] [(nan,)]"}) {
    EXPECT_NE(constant(text).find("graph text, line 1"), std::string::npos) << text;
  }
}

TEST(GraphText, RoundTripsIntegerLimits) {
  expect_round_trip(constant_graph(make_constant(
      "i64", row<std::int64_t>({std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}))));
  expect_round_trip(
      constant_graph(make_constant("u64", row<std::uint64_t>({std::numeric_limits<std::uint64_t>::max(), 0}))));
  expect_round_trip(constant_graph(make_constant("bool", row<bool>({true, false}))));
  expect_round_trip(constant_graph(make_constant("empty", Tensor::zeros({DType::f32, {0, 3}}))));
}

TEST(GraphText, KeepsTheIdentityOfSmallConstantsFromFiles) {
  const Graph graph = constant_graph(make_constant("bias", row<float>({1, 2}), Fingerprint{7, 0xabc}));
  EXPECT_NE(print_graph(graph).find("identity \"0000000000000abc0000000000000007\""), std::string::npos);
  expect_round_trip(graph);
}

TEST(GraphText, FindsLargeConstantsByIdentity) {
  const ConstantPtr weight = make_constant("weight", counting({300}), Fingerprint{1, 2});
  const Graph graph = constant_graph(weight);
  const std::string text = print_graph(graph);
  expect_round_trip(graph, [&](std::string_view name, const Shape& shape, const Fingerprint& identity) {
    EXPECT_EQ(name, "weight");
    EXPECT_EQ(shape, weight->shape);
    EXPECT_EQ(identity, weight->identity);
    return weight;
  });
  EXPECT_EQ(
      refused(text),
      "invalid_argument: graph text, line 2, column 8: a constant without elements: give a resolver that finds it");
  const auto other = [](std::string_view name, const Shape& shape, const Fingerprint&) {
    return make_constant(std::string(name), Tensor::zeros(shape));
  };
  EXPECT_NE(refusal([&] { parse_graph(text, other); }).find("another shape or identity"), std::string::npos);
}

TEST(GraphText, RoundTripsConstantsMadeOfSharedConstants) {
  ConstantPtr constant = make_constant("one", row<float>({1}));
  for (int i = 0; i < 40; ++i) constant = make_constant(Op::add, NoAttributes{}, constant->shape, {constant, constant});
  constant = make_constant(Op::broadcast_in_dim, BroadcastInDim{{2, 1}, {1}}, {DType::f32, {2, 1}}, {constant});
  const Graph graph = constant_graph(constant);
  EXPECT_NE(print_graph(graph).find("@2 = add(@1, @1) : f32[1]"), std::string::npos);
  expect_round_trip(graph);
}

TEST(GraphText, QuotesNamesThatAreNotWords) {
  const std::string awkward = "a\"b\\c\nd\x01 é \x7f";
  Builder b(awkward);
  const Dim dim = b.dim(awkward), number = b.dim("5");
  b.set_source(awkward);
  const Value x = b.parameter(awkward, {DType::f32, {dim, number}}, true);
  b.output(awkward, b.reshape({x}, {.dims = {number, dim}}));
  b.output("", x, 0);
  const Graph graph = b.finish();
  expect_round_trip(graph);
  EXPECT_EQ(parse_graph(print_graph(graph)).source(1), awkward);
}

TEST(GraphText, SaysWhereATextIsWrong) {
  const auto where = [](std::string_view text) {
    const std::string message = refused(text);
    const std::string_view before = "invalid_argument: graph text, ";
    EXPECT_TRUE(message.starts_with(before)) << message;
    return message.substr(std::min(before.size(), message.size()));
  };
  EXPECT_EQ(where(""), "line 1, column 1: the text ends where 'graph' is expected");
  EXPECT_EQ(where("graph \"a\" {\n  %0 ="), "line 2, column 7: the text ends where the name of an op is expected");
  EXPECT_EQ(where("graph \"a\" {\n  %1 = iota() {}"), "line 2, column 3: nodes must be in order");
  EXPECT_EQ(where("graph \"a\" { } x"), "line 1, column 15: expected the end of the text, found \"x\"");
  EXPECT_EQ(where("graph \"a"), "line 1, column 7: a string does not end");
  EXPECT_EQ(where("graph \"a\" { ! }"), "line 1, column 13: a character that no token begins with");
  EXPECT_EQ(where("graph \"a\\q\" { }"), "line 1, column 7: a string has an unknown escape");
  EXPECT_EQ(where("graph \"a\" { %0 = neg(%0) : f32[] }"),
            "line 1, column 22: the value is not defined before its use");
  EXPECT_EQ(where("graph \"a\" { %0 = constant @0 }"), "line 1, column 27: the constant is not defined before its use");
  EXPECT_EQ(where("graph \"a\" { %0 = parameter \"x\" : f32[n] }"), "line 1, column 38: the dim is not declared");
  EXPECT_EQ(where("graph \"a\" { %0 = parameter \"x\" : f32[-1] }"), "line 1, column 38: an extent is negative");
  EXPECT_EQ(where("graph \"a\" { %0 = parameter \"x\" : f33[] }"),
            "line 1, column 34: expected a dtype, found \"f33\"");
  EXPECT_EQ(where("graph \"a\" { @0 = \"c\" : f32[2] [1] }"), "line 1, column 31: fewer elements than the shape has");
  EXPECT_EQ(where("graph \"a\" { @0 = \"c\" : f32[1] [1, 2] }"), "line 1, column 35: more elements than the shape has");
  EXPECT_EQ(where("graph \"a\" { @0 = \"c\" : i8[1] [128] }"),
            "line 1, column 31: expected an element of dtype i8, found \"128\"");
  EXPECT_EQ(where("graph \"a\" { @0 = \"c\" : i4[2] bytes \"1\" }"),
            "line 1, column 36: the digits are not those of the shape's bytes");
  EXPECT_EQ(where("graph \"a\" { @0 = \"c\" : f32[257] [1] }"),
            "line 1, column 18: elements stand here only for at most 1024 bytes of a dtype that has bytes");
}

TEST(GraphText, RefusesShapesThatAreNotInferred) {
  const auto text = [](std::string_view shape) {
    return "graph \"a\" {\n %0 = parameter \"x\" : f32[2]\n %1 = neg(%0) : " + std::string(shape) + "\n}";
  };
  EXPECT_EQ(refused(text("f32[2]")), "accepted");
  EXPECT_EQ(refused(text("f32[3]")),
            "invalid_argument: graph text, line 3, column 2: the results do not have the shapes that are stated");
  EXPECT_EQ(refused(text("(f32[2], f32[2])")), refused(text("f32[3]")));
}

TEST(GraphText, RefusesWhatTheBuilderRefuses) {
  EXPECT_NE(refused("graph \"a\" {\n %0 = parameter \"x\" : f32[2]\n %1 = add(%0) : f32[2]\n}")
                .find("line 3, column 2: add(f32[2]): takes 2 operands, not 1"),
            std::string::npos);
  EXPECT_NE(refused("graph \"a\" {\n %0 = parameter \"x\" : f32[2]\n output \"o\" = %0\n output \"o\" = %0\n}")
                .find("line 1, column 1: graph 'a': two outputs are named 'o'"),
            std::string::npos);
}

TEST(GraphText, LeavesOutFieldsThatCameLaterWhereTheyAreEmpty) {
  const std::string before = R"(graph "g" {
  %0 = parameter "x" : f32[4,2]
  %1 = parameter "i" : i32[3]
  %2 = gather(%0, %1) {offset_dims=[], collapsed_slice_dims=[1], start_index_map=[1], index_vector_dim=1, slice_sizes=[)",
                    row_of_batch = R"(1,1], operand_batching_dims=[0], start_indices_batching_dims=[0]} : f32[4]
}
)";
  std::string text = before + "4,1]} : f32[3,4]\n}\n";
  text.replace(text.find("offset_dims=[]"), 14, "offset_dims=[1]");
  EXPECT_EQ(print_graph(parse_graph(text)), text);
  std::string batched = before + row_of_batch;
  batched.replace(batched.find("i32[3]"), 6, "i32[4]");
  EXPECT_EQ(print_graph(parse_graph(batched)), batched);
  std::string unknown = text;
  unknown.replace(unknown.find("4,1]}"), 5, "4,1], elephants=[0]}");
  EXPECT_NE(refused(unknown).find("expected a field of this op, found \"elephants\""), std::string::npos)
      << refused(unknown);
}

TEST(GraphText, BoundsNestingAndConstantDepth) {
  std::string nested = "graph \"a\" {";
  for (int i = 0; i < 100000; ++i) nested += "%0 = while_loop() : () graph \"a\" {";
  EXPECT_NE(refused(nested).find("graphs are nested too deeply"), std::string::npos);

  std::string deep = "graph \"a\" { @0 = \"c\" : f32[] [1]\n";
  for (int i = 1; i < 400; ++i) deep += "@" + std::to_string(i) + " = neg(@" + std::to_string(i - 1) + ") : f32[]\n";
  EXPECT_NE(refused(deep + "}").find("too many times over"), std::string::npos);
}

TEST(GraphText, EveryCutOfATextIsRefused) {
  for (const Graph& graph : {example_graphs().back(), example_graphs().front()}) {
    const std::string text = print_graph(graph);
    for (std::size_t length = 0; length + 2 < text.size(); ++length)
      EXPECT_TRUE(refused(text.substr(0, length)).starts_with("invalid_argument: graph text, line")) << length;
  }
}

TEST(GraphText, HasFormsOfSizes) {
  Builder b("g");
  const Dim n = b.dim("n", 2), odd = b.dim("min of \"n\"");
  DimTable& dims = *b.dims();
  const DimForm half = dims.quotient(dims.form(n) + 1, 2), other = dims.form(odd);
  Dims extents;
  for (const DimForm& form : {dims.form(n) * 2 + 3, half, half * 3 - other + 7, dims.product(half, other),
                              dims.smaller(half - 1, other), dims.larger(dims.product(other, other), half * 2)})
    extents.push_back(dims.of(form));
  b.parameter("n", {DType::f32, {n}});
  b.parameter("odd", {DType::f32, {odd}});
  b.output("y", b.broadcast_in_dim({b.scalar(DType::f32, 1)}, {.dims = extents, .mapping = {}}));
  const Graph graph = b.finish();
  const std::string text = print_graph(graph);
  EXPECT_NE(text.find(R"(dims=[2*n+3,(n+1)/2,-1*"min of \"n\""+3*((n+1)/2)+7)"), std::string::npos) << text;
  const Graph parsed = parse_graph(text, {});
  EXPECT_EQ(print_graph(parsed), text);
  EXPECT_EQ(parsed.fingerprint(), graph.fingerprint());
}

TEST(GraphText, RefusesWrongForms) {
  const auto where = [](const std::string& size) {
    return refusal([&] { parse_graph("graph \"a\" { dim n min 0 %0 = parameter \"x\" : f32[" + size + "] }", {}); });
  };
  EXPECT_NE(where("n/0").find("column 52: a divisor is not positive"), std::string::npos) << where("n/0");
  EXPECT_NE(where("n+m").find("the dim is not declared"), std::string::npos);
  EXPECT_NE(where("3-4").find("an extent is negative"), std::string::npos) << where("3-4");
  EXPECT_NE(where("min(n,").find("expected"), std::string::npos) << where("min(n,");
  EXPECT_NE(where(std::string(100, '(') + "n").find("nested too deeply"), std::string::npos);
  EXPECT_NE(where("9223372036854775807*n*2").find("overflows"), std::string::npos) << where("9223372036854775807*n*2");
}

}  // namespace
}  // namespace alate::graph
