// Gradients of batch norms, through simpler ops.
#include "graph/decompose/widening.h"
#include "graph/gradients/rules.h"

namespace alate::graph {
namespace {

// One batch norm's values in its compute dtype.
class Rows {
 public:
  explicit Rows(Backward& call)
      : b_(call.b), norm_(call.as<BatchNorm>()), dtype_(call.x_shape().dtype), dims_(call.x_shape().dims) {
    for (std::size_t i = 0; i < dims_.size(); ++i) {
      if (i != static_cast<std::size_t>(norm_.axis)) others_.push_back(static_cast<std::int64_t>(i));
    }
  }

  Value wide(Value value) const { return widen(b_, value); }
  Value narrowed(Value value) const { return narrow(b_, value, dtype_); }
  /// One number per index along the axis, broadcast.
  Value repeated(Value row) const { return b_.broadcast_in_dim({row}, {.dims = dims_, .mapping = {norm_.axis}}); }
  Value sum(Value x) const { return b_.reduce_sum({x}, {.axes = others_}); }
  /// Named dims have no value before a run, so the count is a sum of ones.
  Value mean(Value x) const { return b_.div({sum(x), sum(scalar_like(b_, 1, x))}); }
  /// 1 / sqrt(variance + epsilon)
  Value factor(Value variance) const {
    return b_.rsqrt({b_.add({variance, scalar_like(b_, norm_.epsilon, variance)})});
  }

 private:
  Builder& b_;
  BatchNorm norm_;
  DType dtype_;
  Dims dims_;
  Numbers others_;
};

void batch_norm_inference(Backward& call) {
  Builder& b = call.b;
  call.differentiate([&] {
    const Rows rows(call);
    const Value centered = b.sub({rows.wide(call.x(0)), rows.repeated(rows.wide(call.x(3)))});
    const Value factor = b.mul({rows.factor(rows.wide(call.x(4))), rows.wide(call.x(1))});
    const Value scaled = b.mul({centered, rows.repeated(factor)});
    return std::vector{rows.narrowed(b.add({scaled, rows.repeated(rows.wide(call.x(2)))}))};
  });
}

void batch_norm_training(Backward& call) {
  Builder& b = call.b;
  if (!call.cotangents[1] && !call.cotangents[2]) {
    const std::vector<Value> found =
        b.batch_norm_gradient({call.x(0), call.x(1), call.y(1), call.y(2), call.g()}, call.as<BatchNorm>());
    for (std::size_t i = 0; i < 3; ++i) call.give(i, found[i]);
    return;
  }
  call.differentiate([&] {
    const Rows rows(call);
    const Value x = rows.wide(call.x(0)), mean = rows.mean(x), centered = b.sub({x, rows.repeated(mean)});
    const Value variance = rows.mean(b.mul({centered, centered}));
    const Value factor = b.mul({rows.factor(variance), rows.wide(call.x(1))});
    const Value scaled = b.mul({centered, rows.repeated(factor)});
    const Value y = b.add({scaled, rows.repeated(rows.wide(call.x(2)))});
    return std::vector{rows.narrowed(y), rows.narrowed(mean), rows.narrowed(variance)};
  });
}

// https://openxla.org/stablehlo/spec#batch_norm_grad
void batch_norm_gradient(Backward& call) {
  Builder& b = call.b;
  call.differentiate([&] {
    const Rows rows(call);
    const Value g = rows.wide(call.x(4)), factor = rows.factor(rows.wide(call.x(3)));
    const Value centered = b.sub({rows.wide(call.x(0)), rows.repeated(rows.wide(call.x(2)))});
    const Value normal = b.mul({centered, rows.repeated(factor)}), weighted = b.mul({g, normal});
    const Value across = b.add({rows.repeated(rows.mean(g)), b.mul({normal, rows.repeated(rows.mean(weighted))})});
    const Value slope = rows.repeated(b.mul({factor, rows.wide(call.x(1))}));
    const Value of_x = b.mul({slope, b.sub({g, across})});
    return std::vector{rows.narrowed(of_x), rows.narrowed(rows.sum(weighted)), rows.narrowed(rows.sum(g))};
  });
}

constexpr GradientRule kBatchNormRules[] = {
    {Op::batch_norm_inference, batch_norm_inference},
    {Op::batch_norm_training, batch_norm_training},
    {Op::batch_norm_gradient, batch_norm_gradient},
};

}  // namespace

std::span<const GradientRule> batch_norm_gradients() { return kBatchNormRules; }

}  // namespace alate::graph
