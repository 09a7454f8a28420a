#include "graph/operands.h"

#include "alate/error.h"

namespace alate::graph {

bool has_scale_operand(tensor::EncodingKind encoding) {
  return encoding == tensor::EncodingKind::linear || encoding == tensor::EncodingKind::nf4;
}

void operand_lists::fail_operand_count() {
  throw Error(ErrorCode::internal, "a fused op has another number of operands than its attributes ask for");
}

}  // namespace alate::graph
