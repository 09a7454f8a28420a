// Batch norms, decomposed: StableHLO's own have an f32 epsilon, whatever the dtype.
#include "exchange/stablehlo/ops.h"
#include "exchange/stablehlo/rules.h"
#include "exchange/stablehlo/types.h"

namespace alate::exchange {
namespace {

// A batch norm over values in the compute dtype: f32 for f16 and bf16.
class Norm {
 public:
  Norm(HloWriter& w, const HloCall& call)
      : w_(w), attributes_(call.as<graph::BatchNorm>()), dtype_(call.operand(0).shape.dtype) {
    for (const HloValue& operand : call.operands) operands_.push_back(convert(w, operand, computing_dtype(dtype_)));
  }

  const HloValue& operand(std::size_t place) const { return operands_[place]; }
  HloValue op(std::string_view name, const HloValue& x, const HloValue& y) { return like_first(w_, name, {x, y}); }
  /// Broadcasts one value per index of the axis to x's dims.
  HloValue spread(const HloValue& row) { return broadcast(w_, row, extents_of(operand(0).shape), {attributes_.axis}); }
  /// The sum at each index of the axis.
  HloValue sum(const HloValue& x) {
    Numbers others = counted(x.shape.rank());
    others.erase(others.begin() + attributes_.axis);
    return reduce(w_, graph::Reduction::sum, x, others);
  }
  HloValue mean(const HloValue& x) {
    const HloValue row = sum(x);
    return op("divide", row, splat_like(w_, row, count()));
  }
  double count() const {
    const Shape& shape = operands_[0].shape;
    double count = 1;
    for (std::size_t i = 0; i < shape.rank(); ++i) {
      if (static_cast<std::int64_t>(i) != attributes_.axis) count *= static_cast<double>(shape.dims[i].number());
    }
    return count;
  }
  HloValue centered(const HloValue& mean) { return op("subtract", operand(0), spread(mean)); }
  HloValue deviation(const HloValue& variance) {
    return like_first(w_, "sqrt", {op("add", variance, splat_like(w_, variance, attributes_.epsilon))});
  }
  HloValue normalized(const HloValue& mean, const HloValue& variance) {
    const HloValue normal = op("divide", centered(mean), spread(deviation(variance)));
    return op("add", op("multiply", normal, spread(operand(1))), spread(operand(2)));
  }
  HloValues rounded(HloValues results) {
    for (HloValue& result : results) result = convert(w_, result, dtype_);
    return results;
  }

 private:
  HloWriter& w_;
  const graph::BatchNorm& attributes_;
  DType dtype_;
  HloValues operands_;
};

}  // namespace

HloValues write_batch_norm_inference(HloWriter& w, const HloCall& call) {
  Norm norm(w, call);
  return norm.rounded({norm.normalized(norm.operand(3), norm.operand(4))});
}

HloValues write_batch_norm_training(HloWriter& w, const HloCall& call) {
  Norm norm(w, call);
  const HloValue mean = norm.mean(norm.operand(0)), centered = norm.centered(mean);
  const HloValue variance = norm.mean(norm.op("multiply", centered, centered));
  return norm.rounded({norm.normalized(mean, variance), mean, variance});
}

// https://openxla.org/stablehlo/spec#batch_norm_grad, with the sums computed first.
HloValues write_batch_norm_gradient(HloWriter& w, const HloCall& call) {
  Norm norm(w, call);
  const HloValue &scale = norm.operand(1), &gradient = norm.operand(4);
  const HloValue centered = norm.centered(norm.operand(2)), deviation = norm.deviation(norm.operand(3));
  const HloValue of_shift = norm.sum(gradient), products = norm.sum(norm.op("multiply", gradient, centered));
  const HloValue slope = norm.op("divide", products, norm.op("multiply", deviation, deviation));
  const HloValue scaled = norm.op("multiply", gradient, splat_like(w, gradient, norm.count()));
  const HloValue rest = norm.op("subtract", norm.op("subtract", scaled, norm.spread(of_shift)),
                                norm.op("multiply", centered, norm.spread(slope)));
  const HloValue factor = norm.op("divide", norm.op("divide", scale, deviation), splat_like(w, scale, norm.count()));
  return norm.rounded(
      {norm.op("multiply", rest, norm.spread(factor)), norm.op("divide", products, deviation), of_shift});
}

}  // namespace alate::exchange
