// Steps of quantizing the layers that read one input: smoothing, rounding and reordering.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "alate/tensor.h"
#include "quantization/gptq.h"
#include "tensor/row_rounding.h"

namespace alate::quantization {

/// The factors, one for each channel, by which the inputs of some layers are multiplied before they are rounded; the
/// weights' columns are divided by them. This brings the ranges of inputs and weights closer together: with a the
/// largest magnitude of a channel and w that of the weights' column, a factor is w^0.4 / a^0.6, scaled so that the
/// geometric mean is 1. Xiao and others 2022, "SmoothQuant", with exponent 0.6. `weights` are f32 [out, in].
std::vector<float> smoothing_of(const Inputs& inputs, std::span<const Tensor> weights);

/// f32 [rows, columns] with each column divided by its factor.
Tensor divided_columns(const Tensor& weight, std::span<const float> factors);

/// Rounds inputs as in graph::QuantizedDense, each row in `groups` groups.
void round_to_8_bits(Inputs& inputs, std::int64_t groups);

/// The channels in order of descending range (largest minus smallest value).
std::vector<std::size_t> by_falling_range(const Inputs& inputs);

/// Columns (of inputs or weights) or rows in another order: index i gets the one at `order[i]`.
Inputs ordered_columns(const Inputs& inputs, std::span<const std::size_t> order);
Tensor ordered_columns(const Tensor& matrix, std::span<const std::size_t> order);
/// The same for rows of a vector or matrix of any dtype of whole bytes.
Tensor ordered_rows(const Tensor& tensor, std::span<const std::size_t> order);

/// weight · means, for a weight in f32 and one in 8 bits.
std::vector<double> mean_outputs(const Tensor& weight, std::span<const double> means);
std::vector<double> mean_outputs(const tensor::ScaledRows& weight, std::span<const double> means);

}  // namespace alate::quantization
