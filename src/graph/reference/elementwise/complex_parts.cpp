// Conversions between complex numbers and their parts.
#include "graph/reference/elementwise/elementwise.h"

namespace alate::graph {

Tensor reference_complex(const ReferenceCall& call) {
  return map_as<double>(
      call.shape(), [](double real, double imaginary) { return Complex(real, imaginary); }, call.operand(0),
      call.operand(1));
}

Tensor reference_real(const ReferenceCall& call) {
  const Tensor& x = call.operand(0);
  if (!is_complex(x.dtype())) return x;
  return map_as<Complex>(
      call.shape(), [](Complex z) { return z.real(); }, x);
}

Tensor reference_imag(const ReferenceCall& call) {
  const Tensor& x = call.operand(0);
  if (!is_complex(x.dtype())) return Tensor::zeros(call.shape());
  return map_as<Complex>(
      call.shape(), [](Complex z) { return z.imag(); }, x);
}

Tensor reference_conj(const ReferenceCall& call) {
  return map_as<Complex>(
      call.shape(), [](Complex z) { return std::conj(z); }, call.operand(0));
}

}  // namespace alate::graph
