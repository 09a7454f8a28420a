// Normalizations with per-index parameters of an axis, and log_softmax.
#include <cmath>
#include <limits>

#include "graph/reference/call.h"
#include "graph/reference/extremes.h"
#include "graph/reference/values.h"

namespace alate::graph {
namespace {

// Maps element i to its index along an axis.
struct AxisPlaces {
  std::size_t step, length;

  AxisPlaces(const Shape& shape, std::int64_t axis) {
    const std::vector<std::int64_t> extents = extents_of(shape);
    const auto at = static_cast<std::size_t>(axis);
    step = static_cast<std::size_t>(product(std::span(extents).subspan(at + 1)));
    length = static_cast<std::size_t>(extents[at]);
  }
  std::size_t operator()(std::size_t i) const { return i / step % length; }
};

// Sums over all elements at each index of the axis.
template <typename Term>
std::vector<double> sums(const AxisPlaces& place, std::size_t count, Term term) {
  std::vector<double> result(place.length, 0);
  for (std::size_t i = 0; i < count; ++i) result[place(i)] += term(i);
  return result;
}

}  // namespace

Tensor reference_batch_norm_inference(const ReferenceCall& call) {
  std::vector<double> x = load_floats(call.operand(0));
  const std::vector<double> scale = load_floats(call.operand(1)), shift = load_floats(call.operand(2)),
                            mean = load_floats(call.operand(3)), variance = load_floats(call.operand(4));
  const AxisPlaces place(call.shape(), call.as<BatchNorm>().axis);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t at = place(i);
    x[i] = (x[i] - mean[at]) / std::sqrt(variance[at] + call.as<BatchNorm>().epsilon) * scale[at] + shift[at];
  }
  return store_floats(call.shape(), x);
}

std::vector<Tensor> reference_batch_norm_training(const ReferenceCall& call) {
  std::vector<double> x = load_floats(call.operand(0));
  const std::vector<double> scale = load_floats(call.operand(1)), shift = load_floats(call.operand(2));
  const AxisPlaces place(call.shape(), call.as<BatchNorm>().axis);
  const double count = static_cast<double>(x.size()) / static_cast<double>(place.length);
  std::vector<double> mean = sums(place, x.size(), [&](std::size_t i) { return x[i]; });
  for (double& value : mean) value /= count;
  std::vector<double> variance = sums(place, x.size(), [&](std::size_t i) {
    const double centered = x[i] - mean[place(i)];
    return centered * centered;
  });
  for (double& value : variance) value /= count;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t at = place(i);
    x[i] = (x[i] - mean[at]) / std::sqrt(variance[at] + call.as<BatchNorm>().epsilon) * scale[at] + shift[at];
  }
  return {store_floats(call.shapes[0], x), store_floats(call.shapes[1], mean), store_floats(call.shapes[2], variance)};
}

// https://openxla.org/stablehlo/spec#batch_norm_grad
std::vector<Tensor> reference_batch_norm_gradient(const ReferenceCall& call) {
  std::vector<double> x = load_floats(call.operand(0));
  const std::vector<double> scale = load_floats(call.operand(1)), mean = load_floats(call.operand(2)),
                            variance = load_floats(call.operand(3)), gradient = load_floats(call.operand(4));
  const double epsilon = call.as<BatchNorm>().epsilon;
  const AxisPlaces place(call.shape(), call.as<BatchNorm>().axis);
  const double count = static_cast<double>(x.size()) / static_cast<double>(place.length);
  const auto centered = [&](std::size_t i) { return x[i] - mean[place(i)]; };
  const std::vector<double> of_shift = sums(place, x.size(), [&](std::size_t i) { return gradient[i]; });
  const std::vector<double> products = sums(place, x.size(), [&](std::size_t i) { return gradient[i] * centered(i); });
  std::vector<double> of_x(x.size()), of_scale(place.length);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t at = place(i);
    const double spread = variance[at] + epsilon;
    const double rest = count * gradient[i] - of_shift[at] - products[at] * centered(i) / spread;
    of_x[i] = scale[at] / std::sqrt(spread) / count * rest;
  }
  for (std::size_t at = 0; at < place.length; ++at) of_scale[at] = products[at] / std::sqrt(variance[at] + epsilon);
  return {store_floats(call.shapes[0], of_x), store_floats(call.shapes[1], of_scale),
          store_floats(call.shapes[2], of_shift)};
}

Tensor reference_log_softmax(const ReferenceCall& call) {
  std::vector<double> x = load_floats(call.operand(0));
  const AxisPlaces place(call.shape(), call.as<Axis>().axis);
  for (std::size_t first = 0; first < x.size(); ++first) {
    if (place(first) != 0) continue;
    const auto at = [&](std::size_t i) -> double& { return x[first + i * place.step]; };
    double largest = -std::numeric_limits<double>::infinity(), sum = 0;
    for (std::size_t i = 0; i < place.length; ++i) largest = larger(largest, at(i));
    for (std::size_t i = 0; i < place.length; ++i) sum += std::exp(at(i) - largest);
    for (std::size_t i = 0; i < place.length; ++i) at(i) = at(i) - largest - std::log(sum);
  }
  return store_floats(call.shape(), x);
}

Tensor reference_rms_norm(const ReferenceCall& call) {
  std::vector<double> x = load_floats(call.operand(0));
  const std::vector<double> scale = load_floats(call.operand(1));
  const std::size_t width = scale.size();
  for (std::size_t first = 0; first < x.size(); first += width) {
    double squares = 0;
    for (std::size_t i = 0; i < width; ++i) squares += x[first + i] * x[first + i];
    const double root = std::sqrt(squares / static_cast<double>(width) + call.as<Norm>().epsilon);
    for (std::size_t i = 0; i < width; ++i) x[first + i] = x[first + i] / root * scale[i];
  }
  return store_floats(call.shape(), x);
}

Tensor reference_group_norm(const ReferenceCall& call) {
  const GroupNorm& norm = call.as<GroupNorm>();
  std::vector<double> x = load_floats(call.operand(0));
  if (x.empty()) return store_floats(call.shape(), x);
  const std::vector<double> scale = load_floats(call.operand(1)), shift = load_floats(call.operand(2));
  const AxisPlaces channel(call.shape(), norm.axis), batch(call.shape(), 0);
  const auto groups = static_cast<std::size_t>(norm.groups);
  const auto group = [&](std::size_t i) { return batch(i) * groups + channel(i) / (channel.length / groups); };
  const double count = static_cast<double>(x.size()) / static_cast<double>(batch.length * groups);
  std::vector<double> mean(batch.length * groups), variance(mean.size());
  for (std::size_t i = 0; i < x.size(); ++i) mean[group(i)] += x[i] / count;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double centered = x[i] - mean[group(i)];
    variance[group(i)] += centered * centered / count;
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double normal = (x[i] - mean[group(i)]) / std::sqrt(variance[group(i)] + norm.epsilon);
    x[i] = normal * scale[channel(i)] + shift[channel(i)];
  }
  return store_floats(call.shape(), x);
}

}  // namespace alate::graph
