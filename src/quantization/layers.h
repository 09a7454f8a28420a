// One step of quantizing a model: the layers that read one input.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "alate/tensor.h"
#include "quantization/gptq.h"
#include "tensor/row_rounding.h"

namespace alate::quantization {

/// What the inputs of some layers are multiplied with, channel by channel, before they are rounded; the weights'
/// columns are divided by it. So the ranges of inputs and weights come nearer to each other: with a the largest
/// magnitude of a channel and w that of the weights' column, w^0.4 / a^0.6, of which the geometric mean is made 1. Xiao
/// and others 2022, "SmoothQuant", with exponent 0.6. `weights` are f32 [out, in].
std::vector<float> smoothing_of(const Inputs& inputs, std::span<const Tensor> weights);

/// f32 [rows, columns] with each column divided by its factor.
Tensor divided_columns(const Tensor& weight, std::span<const float> factors);

/// Rounds inputs as graph::QuantizedDense says, each row in `runs` runs.
void round_to_8_bits(Inputs& inputs, std::int64_t runs);

/// The order of channels by falling range (the largest less the smallest value).
std::vector<std::size_t> by_falling_range(const Inputs& inputs);

/// Columns (of inputs or weights) or rows in another order: place i gets what `order[i]` names.
Inputs ordered_columns(const Inputs& inputs, std::span<const std::size_t> order);
Tensor ordered_columns(const Tensor& matrix, std::span<const std::size_t> order);
/// Of a vector or a matrix of any dtype of whole bytes.
Tensor ordered_rows(const Tensor& tensor, std::span<const std::size_t> order);

/// weight · means, for a weight of floats and one in 8 bits.
std::vector<double> mean_outputs(const Tensor& weight, std::span<const double> means);
std::vector<double> mean_outputs(const tensor::ScaledRows& weight, std::span<const double> means);

}  // namespace alate::quantization
