#include "quantization/layers.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "graph/attributes.h"

namespace alate::quantization {
namespace {

constexpr float kLeastMagnitude = 1e-5F;
// The smoothing exponent: 0 equalizes only the ranges of the weights' columns, 1 only those of the inputs' channels.
// Vectors of all-MiniLM-L6-v2 move least at 0.6: 2.6e-4 of the cosine, 2.8e-4 at 0.5 and 0.65.
constexpr float kOfInputs = 0.6F;
constexpr float kInactive = 0.03F;  // of the mean magnitude

std::vector<float> column_magnitudes(std::span<const float> values, std::size_t columns) {
  std::vector<float> most(columns, kLeastMagnitude);
  for (std::size_t i = 0; i < values.size(); ++i) most[i % columns] = std::max(most[i % columns], std::abs(values[i]));
  return most;
}

// Channels that no calibration text made active, as a ReLU leaves some, say nothing of their range: they get the mean.
// Scaled up as if they were always small, one that a later text makes active would take the whole range of its row.
void replace_inactive(std::span<float> magnitudes) {
  const double sum = std::accumulate(magnitudes.begin(), magnitudes.end(), 0.0);
  const auto mean = static_cast<float>(sum / static_cast<double>(std::max<std::size_t>(magnitudes.size(), 1)));
  std::ranges::replace_if(
      magnitudes, [&](float each) { return each < mean * kInactive; }, mean);
}

void round_run(std::span<float> run) {
  const auto [least, greatest] = std::ranges::minmax(run);
  const float step = std::max((greatest - least) / static_cast<float>(graph::QuantizedDense::kGroupSteps),
                              static_cast<float>(graph::QuantizedDense::kMinGroupStep));
  const float inverse = 1 / step;
  for (float& value : run) value = std::nearbyint((value - least) * inverse) * step + least;
}

}  // namespace

std::vector<float> smoothing_of(const Inputs& inputs, std::span<const Tensor> weights) {
  const std::size_t columns = inputs.columns;
  std::vector<float> of_inputs = column_magnitudes(inputs.values, columns);
  replace_inactive(of_inputs);
  std::vector<float> of_weights(columns, kLeastMagnitude);
  for (const Tensor& weight : weights) {
    const std::vector<float> each = column_magnitudes(weight.values<float>(), columns);
    for (std::size_t i = 0; i < columns; ++i) of_weights[i] = std::max(of_weights[i], each[i]);
  }
  double logarithms = 0;
  std::vector<float> smoothing(columns);
  for (std::size_t i = 0; i < columns; ++i) {
    smoothing[i] = std::pow(of_weights[i], 1 - kOfInputs) / std::pow(of_inputs[i], kOfInputs);
    logarithms += std::log(double{smoothing[i]});
  }
  const auto mean = static_cast<float>(std::exp(logarithms / static_cast<double>(std::max<std::size_t>(columns, 1))));
  for (float& factor : smoothing) factor /= mean;
  return smoothing;
}

Tensor divided_columns(const Tensor& weight, std::span<const float> factors) {
  Tensor divided = Tensor::uninitialized(weight.shape());
  const std::span<const float> from = weight.values<float>();
  const std::span<float> to = divided.mutable_values<float>();
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = from[i] / factors[i % factors.size()];
  return divided;
}

void round_to_8_bits(Inputs& inputs, std::int64_t groups) {
  const std::size_t length = inputs.columns / static_cast<std::size_t>(groups);
  for (std::size_t first = 0; first < inputs.values.size(); first += length)
    round_run(std::span(inputs.values).subspan(first, length));
}

std::vector<std::size_t> by_falling_range(const Inputs& inputs) {
  std::vector<float> least(inputs.columns, INFINITY), greatest(inputs.columns, -INFINITY);
  for (std::size_t i = 0; i < inputs.values.size(); ++i) {
    const std::size_t column = i % inputs.columns;
    least[column] = std::min(least[column], inputs.values[i]);
    greatest[column] = std::max(greatest[column], inputs.values[i]);
  }
  std::vector<std::size_t> order(inputs.columns);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t i) { return greatest[i] - least[i]; });
  return order;
}

Inputs ordered_columns(const Inputs& inputs, std::span<const std::size_t> order) {
  Inputs ordered{.values = std::vector<float>(inputs.values.size()), .columns = inputs.columns};
  for (std::size_t i = 0; i < inputs.values.size(); ++i) {
    const std::size_t column = i % inputs.columns;
    ordered.values[i] = inputs.values[i - column + order[column]];
  }
  return ordered;
}

Tensor ordered_columns(const Tensor& matrix, std::span<const std::size_t> order) {
  Tensor ordered = Tensor::uninitialized(matrix.shape());
  const std::span<const float> from = matrix.values<float>();
  const std::span<float> to = ordered.mutable_values<float>();
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = from[i - i % order.size() + order[i % order.size()]];
  return ordered;
}

Tensor ordered_rows(const Tensor& tensor, std::span<const std::size_t> order) {
  Tensor ordered = Tensor::uninitialized(tensor.shape());
  const std::size_t bytes = tensor.byte_count() / order.size();
  for (std::size_t i = 0; i < order.size(); ++i)
    std::memcpy(ordered.mutable_bytes().data() + i * bytes, tensor.bytes().data() + order[i] * bytes, bytes);
  return ordered;
}

std::vector<double> mean_outputs(const Tensor& weight, std::span<const double> means) {
  std::vector<double> outputs(static_cast<std::size_t>(weight.extent(0)));
  for (std::size_t row = 0; row < outputs.size(); ++row) {
    for (std::size_t i = 0; i < means.size(); ++i)
      outputs[row] += double{weight.values<float>()[row * means.size() + i]} * means[i];
  }
  return outputs;
}

std::vector<double> mean_outputs(const tensor::ScaledRows& weight, std::span<const double> means) {
  const auto groups = static_cast<std::size_t>(weight.groups()), length = static_cast<std::size_t>(weight.group_size());
  const std::span<const std::int8_t> stored = weight.stored.values<std::int8_t>();
  const std::span<const float> scales = weight.scales.values<float>();
  std::vector<double> outputs(static_cast<std::size_t>(weight.stored.extent(0)));
  for (std::size_t run = 0; run < scales.size(); ++run) {
    double sum = 0;
    for (std::size_t i = 0; i < length; ++i)
      sum += static_cast<double>(stored[run * length + i]) * means[run % groups * length + i];
    outputs[run / groups] += sum * double{scales[run]};
  }
  return outputs;
}

}  // namespace alate::quantization
