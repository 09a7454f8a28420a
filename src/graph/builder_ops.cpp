// The builder's method for each op, out of line: a hundred methods of which a file uses a few.
#include "graph/builder.h"

namespace alate::graph {

#define ALATE_LEAF_OP(...)
#define ALATE_REGION_OP(...)
#define ALATE_OP(name, arity, attribute, ...)                                  \
  Value Builder::name(std::vector<Value> operands, attribute attributes) {     \
    return emit(Op::name, std::move(operands), std::move(attributes)).front(); \
  }
#define ALATE_FUSED_OP ALATE_OP
#define ALATE_MULTI_OP(name, arity, attribute, ...)                                     \
  std::vector<Value> Builder::name(std::vector<Value> operands, attribute attributes) { \
    return emit(Op::name, std::move(operands), std::move(attributes));                  \
  }
#define ALATE_MULTI_FUSED_OP ALATE_MULTI_OP
#include "graph/ops.def"

std::vector<Value> Builder::while_loop(std::vector<Value> initial, Region condition, Region body) {
  return emit(Op::while_loop, std::move(initial), NoAttributes{}, {std::move(condition), std::move(body)});
}

std::vector<Value> Builder::if_else(std::vector<Value> operands, Region then, Region otherwise) {
  return emit(Op::if_else, std::move(operands), NoAttributes{}, {std::move(then), std::move(otherwise)});
}

std::vector<Value> Builder::call(std::vector<Value> operands, Region callee) {
  return emit(Op::call, std::move(operands), NoAttributes{}, {std::move(callee)});
}

std::vector<Value> Builder::reduce(std::vector<Value> operands, Axes axes, Region combine) {
  return emit(Op::reduce, std::move(operands), std::move(axes), {std::move(combine)});
}

std::vector<Value> Builder::sort(std::vector<Value> operands, Sort attributes, Region comes_before) {
  return emit(Op::sort, std::move(operands), attributes, {std::move(comes_before)});
}

}  // namespace alate::graph
