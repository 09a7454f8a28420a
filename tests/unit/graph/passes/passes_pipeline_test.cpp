// The passes together: on every example of an op, inside regions, and as files.
#include <filesystem>
#include <fstream>

#include "graph/graph_dump.h"
#include "tests/unit/base/temporary_folder.h"
#include "tests/unit/graph/example_graphs.h"
#include "tests/unit/graph/passes/check_pass.h"

namespace alate::graph {
namespace {

TEST(StandardPasses, KeepTheResultsOfEveryExample) {
  for (const Graph& before : example_graphs()) {
    const Graph after = run_passes(before, standard_passes(), nullptr);
    const std::vector<Tensor> inputs = example_inputs(before);
    const std::vector<Tensor> a = interpret(before, inputs, base::Cancellation::never()),
                              b = interpret(after, inputs, base::Cancellation::never());
    ASSERT_EQ(a.size(), b.size()) << before.name();
    for (std::size_t i = 0; i < a.size(); ++i) {
      ASSERT_EQ(a[i].shape(), b[i].shape()) << before.name();
      const auto x = a[i].bytes(), y = b[i].bytes();
      EXPECT_TRUE(std::equal(x.begin(), x.end(), y.begin(), y.end())) << print_graph(before);
    }
  }
}

TEST(StandardPasses, LeaveNothingToDoForASecondRun) {
  for (const Graph& graph : example_graphs()) {
    const Graph once = run_passes(graph, standard_passes(), nullptr);
    EXPECT_EQ(print_graph(run_passes(once, standard_passes(), nullptr)), print_graph(once)) << graph.name();
  }
}

TEST(StandardPasses, MergeQueryKeyAndValueWhereOnlySomeHaveABias) {
  Builder b("g");
  const Value x = b.parameter("x", {DType::f32, {b.dim("tokens"), 3}});
  const Value turned = b.transpose({x}, {.permutation = {1, 0}});
  for (const int i : {0, 1, 2}) {
    const Value input = i == 0 ? x : b.transpose({turned}, {.permutation = {1, 0}});
    const bool out_in = i == 2;  // the others are [in, out], as exporters of ONNX write them
    Value y = b.dot_general({input, b.constant(waves({DType::f32, out_in ? Dims{4, 3} : Dims{3, 4}}, i))},
                            {.lhs_batch = {}, .rhs_batch = {}, .lhs_contracting = {1}, .rhs_contracting = {out_in}});
    if (i != 1) y = b.add({y, broadcast_to(b, b.constant(waves({DType::f32, {4}}, 10 + i)), b.shape(y).dims)});
    b.output("y" + std::to_string(i), y);
  }
  const Graph before = b.finish(), after = run_passes(before, standard_passes(), nullptr);
  EXPECT_EQ(op_names(after), "dense slice slice slice");
  expect_same_outputs(before, after, wave_inputs(before), 2e-6f);
}

TEST(StandardPasses, ReachIntoRegions) {
  Builder b("g");
  Builder r("region", b.dims());
  const Value inner = r.parameter("x", {DType::f32, {3}});
  r.output("y", r.mul({inner, r.logistic({r.neg({r.neg({inner})})})}));
  b.output("y", b.call({b.parameter("x", {DType::f32, {3}})}, std::make_shared<const Graph>(r.finish())).front());
  const Graph before = b.finish(), after = run_passes(before, standard_passes(), nullptr);
  EXPECT_EQ(op_names(*after.nodes().back().regions.front()), "silu");
  expect_same_outputs(before, after, wave_inputs(before), 1e-6f);
}

TEST(StandardPasses, AskForAConvolutionLayoutOnlyWhereOneIsPreferred) {
  const auto has_layout = [](const PassPipeline& pipeline) {
    return std::any_of(pipeline.begin(), pipeline.end(),
                       [](const Pass& pass) { return pass.name == "choose_convolution_layout"; });
  };
  EXPECT_FALSE(has_layout(standard_passes()));
  EXPECT_TRUE(has_layout(standard_passes({.convolution_layout = ConvolutionLayout::features_last})));
}

TEST(GraphDump, WritesAFileAfterEachPassInOrder) {
  const base::TemporaryFolder temporary;
  const std::filesystem::path folder = temporary.path() / "graph_dump" / "inner";
  Builder b("g");
  b.output("y", b.identity({b.parameter("x", {DType::f32, {3}})}));
  const Graph before = b.finish();
  GraphDump dump(folder);
  dump.write("input", before);
  run_passes(before, {{"simplify_arithmetic", simplify_arithmetic}}, nullptr,
             [&](std::string_view pass, const Graph& after) { dump.write(pass, after); });
  const auto text = [&](const char* name) {
    std::ifstream file(folder / name);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  EXPECT_EQ(text("00_input.txt"), print_graph(before));
  EXPECT_EQ(op_names(parse_graph(text("01_simplify_arithmetic.txt"))), "");
}

TEST(GraphDump, SaysWhichFolderCannotBeMade) {
  const base::TemporaryFolder folder;
  const std::filesystem::path file = folder.write("graph_dump_file", "a file");
  const std::string found = refusal([&] { GraphDump dump(file / "inner"); });
  EXPECT_NE(found.find("unavailable: cannot make the folder '" + (file / "inner").string()), std::string::npos)
      << found;
}

}  // namespace
}  // namespace alate::graph
