// Parses graph text. What parses must verify, print and parse again to the same fingerprint; small graphs are also
// interpreted, over zeros.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "alate/error.h"
#include "graph/interpreter.h"
#include "graph/text/text.h"

namespace {

using namespace alate;
using namespace alate::graph;

constexpr std::int64_t kSmall = 1024;

[[noreturn]] void fail(std::string_view what, std::string_view text) {
  std::fprintf(stderr, "%.*s\n%.*s\n", static_cast<int>(what.size()), what.data(), static_cast<int>(text.size()),
               text.data());
  std::abort();
}

// Zeros of the identity that the text asks for.
ConstantPtr resolve(std::string_view name, const Shape& shape, const Fingerprint& identity) {
  if (bits_of(shape.dtype) == 0 || !shape.is_static() || shape.byte_count() > std::size_t{1} << 16)
    throw make_error(ErrorCode::not_found, "no such constant");
  return make_constant(std::string(name), Tensor::zeros(shape), identity);
}

std::int64_t extent_of(const Graph& graph, Dim dim) {
  if (dim.is_number()) return dim.number();
  const NamedDim& named = graph.dims()[dim.id()];
  const std::int64_t wanted = std::max<std::int64_t>(named.min, 2);
  return named.max ? std::min(wanted, *named.max) : wanted;
}

bool is_small(const Graph& graph, const Shape& shape) {
  std::int64_t left = kSmall;
  for (const Dim dim : shape.dims) {
    const std::int64_t extent = extent_of(graph, dim);
    if (extent < 0) return false;
    left /= std::max<std::int64_t>(extent, 1);
  }
  return left > 0 && bits_of(shape.dtype) > 0;
}

bool is_small(const Graph& graph, const ConstantPtr& constant, std::set<const Constant*>& seen) {
  if (!seen.insert(constant.get()).second) return true;
  return is_small(graph, constant->shape) &&
         std::all_of(constant->operands.begin(), constant->operands.end(),
                     [&](const ConstantPtr& operand) { return is_small(graph, operand, seen); });
}

// Whether a region that runs once for each comparison or combination is over scalars, without regions of its own.
bool is_over_scalars(const Graph& region) {
  return std::all_of(region.nodes().begin(), region.nodes().end(), [](const Node& node) {
    return node.regions.empty() &&
           std::all_of(node.results.begin(), node.results.end(), [](const Shape& shape) { return shape.rank() == 0; });
  });
}

// Whether it can be interpreted in no time: small values, no loops, few nodes.
bool is_small(const Graph& graph) {
  std::set<const Constant*> seen;
  if (graph.nodes().size() > 100) return false;
  for (const ConstantPtr& constant : graph.constants()) {
    if (!is_small(graph, constant, seen)) return false;
  }
  for (const Node& node : graph.nodes()) {
    if (node.op == Op::while_loop) return false;
    for (const Shape& shape : node.results) {
      if (!is_small(graph, shape)) return false;
    }
    const bool runs_often = node.op == Op::sort || node.op == Op::reduce;
    for (const Region& region : node.regions) {
      if (!is_small(*region) || (runs_often && !is_over_scalars(*region))) return false;
    }
  }
  return seen.size() < 100;
}

void interpret_zeros(const Graph& graph, std::string_view text) {
  std::vector<Tensor> inputs;
  for (const Parameter& parameter : graph.parameters()) {
    Shape shape = parameter.shape;
    for (Dim& dim : shape.dims) dim = extent_of(graph, dim);
    inputs.push_back(Tensor::zeros(std::move(shape)));
  }
  try {
    interpret(graph, inputs, base::Cancellation::never());
  } catch (const Error& error) {
    if (error.code() == ErrorCode::internal) fail(error.what(), text);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Graph graph;
  try {
    graph = parse_graph(text, resolve);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::internal) fail(error.what(), text);
    return 0;
  }
  const std::string printed = print_graph(graph);
  try {
    verify(graph);
    if (parse_graph(printed, resolve).fingerprint() != graph.fingerprint()) fail("another fingerprint", printed);
  } catch (const Error& error) {
    fail(error.what(), printed);
  }
  if (is_small(graph)) interpret_zeros(graph, printed);
  return 0;
}
