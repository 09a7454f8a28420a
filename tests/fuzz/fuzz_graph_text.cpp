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

// A value for each name; none if the bounds leave none, or a size would be too large for any.
std::optional<DimValues> small_extents(const DimTable& dims) {
  DimValues values(dims);
  try {
    for (const DimId id : dims.names()) {
      const std::int64_t wanted = std::max<std::int64_t>(dims[id].min, 2);
      values.set(id, dims[id].max ? std::min(wanted, *dims[id].max) : wanted, "a dim");
    }
  } catch (const Error&) {
    return std::nullopt;
  }
  return values;
}

bool is_small(const DimValues& extents, const Shape& shape) {
  std::int64_t left = kSmall;
  try {
    for (const Dim dim : shape.dims) left /= std::max<std::int64_t>(extents(dim), 1);
  } catch (const Error&) {
    return false;  // a negative size
  }
  return left > 0 && bits_of(shape.dtype) > 0;
}

bool is_small(const DimValues& extents, const ConstantPtr& constant, std::set<const Constant*>& seen) {
  if (!seen.insert(constant.get()).second) return true;
  return is_small(extents, constant->shape) &&
         std::all_of(constant->operands.begin(), constant->operands.end(),
                     [&](const ConstantPtr& operand) { return is_small(extents, operand, seen); });
}

// Whether a region that runs once for each comparison or combination is over scalars, without regions of its own.
bool is_over_scalars(const Graph& region) {
  return std::all_of(region.nodes().begin(), region.nodes().end(), [](const Node& node) {
    return node.regions.empty() &&
           std::all_of(node.results.begin(), node.results.end(), [](const Shape& shape) { return shape.rank() == 0; });
  });
}

// Whether it can be interpreted in no time: small values, no loops, few nodes.
bool is_small(const Graph& graph, const DimValues& extents) {
  std::set<const Constant*> seen;
  if (graph.nodes().size() > 100) return false;
  for (const ConstantPtr& constant : graph.constants()) {
    if (!is_small(extents, constant, seen)) return false;
  }
  for (const Node& node : graph.nodes()) {
    if (node.op == Op::while_loop) return false;
    for (const Shape& shape : node.results) {
      if (!is_small(extents, shape)) return false;
    }
    const bool runs_often = node.op == Op::sort || node.op == Op::reduce;
    for (const Region& region : node.regions) {
      if (!is_small(*region, extents) || (runs_often && !is_over_scalars(*region))) return false;
    }
  }
  return seen.size() < 100;
}

void interpret_zeros(const Graph& graph, const DimValues& extents, std::string_view text) {
  std::vector<Tensor> inputs;
  for (const Parameter& parameter : graph.parameters()) {
    if (!is_small(extents, parameter.shape)) return;
    inputs.push_back(Tensor::zeros(extents(parameter.shape)));
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
  const std::optional<DimValues> extents = small_extents(graph.dims());
  if (extents && is_small(graph, *extents)) interpret_zeros(graph, *extents, printed);
  return 0;
}
