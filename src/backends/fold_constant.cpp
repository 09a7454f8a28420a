#include "backends/fold_constant.h"

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "backends/cpu/run/run_constant.h"
#include "graph/interpreter.h"

namespace alate::backends {
namespace {

// Below this many elements (of the result) the interpreter takes less time than a plan.
constexpr std::int64_t kFewElements = std::int64_t{1} << 14;

bool is_float_of_at_most_32_bits(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16;
}

// Ops whose kernels give the interpreter's bits: they move values, or convert floats that the interpreter rounds once.
bool has_exact_kernel(const graph::Constant& constant) {
  if (constant.is_leaf()) return false;
  switch (constant.op) {
    case graph::Op::transpose:
    case graph::Op::reshape:
    case graph::Op::concatenate:
    case graph::Op::slice:
    case graph::Op::reverse: return true;
    case graph::Op::convert:
      return is_float_of_at_most_32_bits(constant.shape.dtype) &&
             is_float_of_at_most_32_bits(constant.operands[0]->shape.dtype);
    default: return false;
  }
}

// Each constant that several others read is computed once.
class Folding {
 public:
  Tensor value_of(const graph::Constant& constant) {
    if (constant.is_leaf()) return constant.tensor;
    const auto found = done_.find(&constant);
    if (found != done_.end()) return found->second;
    const bool is_large = constant.shape.element_count() >= kFewElements;
    Tensor value = is_large && has_exact_kernel(constant)
                       ? cpu::run_constant(constant, has_exact_kernel,
                                           [this](const graph::Constant& operand) { return value_of(operand); })
                       : interpreted(constant);
    done_.emplace(&constant, value);
    return value;
  }

 private:
  Tensor interpreted(const graph::Constant& constant) {
    std::vector<Tensor> operands;
    for (const graph::ConstantPtr& operand : constant.operands) operands.push_back(value_of(*operand));
    graph::DimTable no_dims;
    return graph::interpret_op(constant.op, constant.attributes, {}, operands, std::span(&constant.shape, 1),
                               graph::DimValues(no_dims), base::Cancellation::never())
        .front();
  }

  std::map<const graph::Constant*, Tensor> done_;
};

}  // namespace

Tensor fold_constant(const graph::Constant& constant) { return Folding().value_of(constant); }

}  // namespace alate::backends
