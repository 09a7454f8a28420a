// The triangular root of an inverse, which GPTQ walks along.
#pragma once

#include <cstddef>
#include <span>

namespace alate::quantization {

/// Makes of a symmetric, positive definite matrix H [n, n] (row-major; what is above the diagonal is not read) the
/// upper triangular U with UᵀU = H⁻¹, in its place; below the diagonal are zeros. Runs on the shared pool; equal for
/// any number of threads. Throws invalid_argument where H is not positive definite.
void inverse_root(std::span<double> matrix, std::size_t n);

}  // namespace alate::quantization
