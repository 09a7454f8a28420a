#include "graph/reference/call.h"

namespace alate::graph {
namespace {

bool is_true(const Tensor& scalar) { return scalar.bytes()[0] != std::byte{0}; }

}  // namespace

std::vector<Tensor> reference_while_loop(const ReferenceCall& call) {
  std::vector<Tensor> values(call.operands.begin(), call.operands.end());
  while (is_true(interpret_region(*call.regions[0], call.dims, values).front()))
    values = interpret_region(*call.regions[1], call.dims, std::move(values));
  return values;
}

std::vector<Tensor> reference_if_else(const ReferenceCall& call) {
  const Graph& chosen = *call.regions[is_true(call.operand(0)) ? 0 : 1];
  return interpret_region(chosen, call.dims, {call.operands.begin() + 1, call.operands.end()});
}

}  // namespace alate::graph
