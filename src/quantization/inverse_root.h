// The triangular root of a matrix inverse, for GPTQ.
#pragma once

#include <cstddef>
#include <span>

namespace alate::quantization {

/// Replaces a symmetric, positive definite matrix H [n, n] (row-major; values above the diagonal are not read) in place
/// by the upper triangular U with UᵀU = H⁻¹, with zeros below the diagonal. Runs on the shared pool; equal for any
/// number of threads. Throws invalid_argument where H is not positive definite.
void inverse_root(std::span<double> matrix, std::size_t n);

}  // namespace alate::quantization
