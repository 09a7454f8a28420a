#include "graph/reference/fused/epilogue.h"

#include <cmath>
#include <numbers>

#include "alate/error.h"
#include "graph/reference/extremes.h"

namespace alate::graph {
namespace {

// x · Φ(x), and its approximation by tanh (Hendrycks and Gimpel 2016, section 2).
double gelu_erf(double x) { return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2)); }
double gelu_tanh(double x) {
  const double root = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;  // of 2/π
  return 0.5 * x * (1 + std::tanh(root * (x + 0.044715 * x * x * x)));
}
double logistic(double x) { return 1 / (1 + std::exp(-x)); }

}  // namespace

double activate(Activation activation, double x) {
  switch (activation) {
    case Activation::none: return x;
    case Activation::relu: return larger(x, 0.0);
    case Activation::gelu_erf: return gelu_erf(x);
    case Activation::gelu_tanh: return gelu_tanh(x);
    case Activation::silu: return x * logistic(x);
    case Activation::tanh: return std::tanh(x);
    case Activation::sigmoid: return logistic(x);
    case Activation::quick_gelu: return x * logistic(1.702 * x);
  }
  throw make_error(ErrorCode::internal, "dense has an activation that the reference interpreter does not know");
}

}  // namespace alate::graph
