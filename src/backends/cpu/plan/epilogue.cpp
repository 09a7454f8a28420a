#include "backends/cpu/plan/epilogue.h"

#include "graph/operands.h"

namespace alate::cpu {
namespace {

template <template <typename> typename Operands>
Epilogue of_product(const typename Operands<std::size_t>::Attributes& attributes) {
  const auto at = graph::places_of<Operands>(attributes);
  return {.bias = at.bias, .residual = at.residual, .activation = attributes.activation};
}

}  // namespace

Epilogue epilogue_of(const graph::Attributes& attributes) {
  if (const auto* dense = std::get_if<graph::Dense>(&attributes)) return of_product<graph::DenseOperands>(*dense);
  if (const auto* dense = std::get_if<graph::QuantizedDense>(&attributes))
    return of_product<graph::QuantizedDenseOperands>(*dense);
  return {};
}

}  // namespace alate::cpu
