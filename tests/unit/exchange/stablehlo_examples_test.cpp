// Every op's example as StableHLO. The check against XLA itself is run by hand: tests/golden/check_stablehlo.py.
#include <algorithm>
#include <cctype>
#include <set>

#include "exchange/stablehlo.h"
#include "graph/decompose.h"
#include "tests/unit/graph/example_graphs.h"

namespace alate::exchange {
namespace {

using graph::Graph;
using graph::OpInfo;
using graph::OpKind;

graph::DimValues all_three(const Graph& graph) {
  graph::DimValues dims(graph.dims());
  for (const DimId id : graph.dims().names()) dims.set(id, 3, "example");
  return dims;
}

Graph decomposed(const Graph& graph) {
  return graph::decompose(graph, [](const Graph&, const graph::Node&) { return false; });
}

// Names that are read before a line, an argument or a block gives them, or that are given twice.
std::string misused_names(const std::string& text) {
  std::set<std::string> given;
  std::string misused;
  for (std::size_t at = text.find('%'); at != std::string::npos; at = text.find('%', at + 1)) {
    std::size_t end = at + 1;
    while (std::isalnum(static_cast<unsigned char>(text[end])) != 0) ++end;
    const std::string name = text.substr(at, end - at);
    const bool is_argument = text[end] == ':' && text[end + 1] == ' ';
    const bool is_result = text.compare(end, 3, " = ") == 0 || (text[end] == ':' && !is_argument);
    if (is_argument || is_result ? !given.insert(name).second : !given.contains(name)) misused += name + " ";
  }
  return misused;
}

TEST(StableHloExamples, EveryStandardOpHasASpelling) {
  std::set<graph::Op> seen;
  for (const Graph& example : graph::example_graphs()) {
    const Graph graph = decomposed(example);
    for (const graph::Node& node : graph.nodes()) {
      EXPECT_TRUE(supports_stablehlo(graph, node).is_supported())
          << example.name() << ": " << to_string(node.op) << ": " << supports_stablehlo(graph, node).reason;
      seen.insert(node.op);
    }
  }
  for (const OpInfo& op : graph::all_ops()) {
    const bool is_expected = op.kind == OpKind::standard || op.kind == OpKind::region;
    EXPECT_TRUE(!is_expected || seen.contains(op.op)) << op.name;
  }
}

TEST(StableHloExamples, EveryExampleIsWritten) {
  for (const Graph& example : graph::example_graphs()) {
    const Graph graph = decomposed(example);
    const std::string text = write_stablehlo(graph, all_three(graph)).text;
    EXPECT_EQ(misused_names(text), "") << example.name() << "\n" << text;
    EXPECT_EQ(std::ranges::count(text, '{'), std::ranges::count(text, '}')) << text;
  }
}

}  // namespace
}  // namespace alate::exchange
