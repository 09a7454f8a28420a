#include "graph/infer.h"

#include "alate/error.h"
#include "graph/shapes/rules.h"

namespace alate::graph {
namespace {

using Rule = std::vector<Shape> (*)(const InferenceInput&);

constexpr Rule kRules[] = {
#define ALATE_LEAF_OP(name, arity, attributes, rule, ...) infer_##rule,
#define ALATE_OP ALATE_LEAF_OP
#define ALATE_REGION_OP ALATE_LEAF_OP
#define ALATE_MULTI_OP ALATE_LEAF_OP
#define ALATE_FUSED_OP ALATE_LEAF_OP
#include "graph/ops.def"
};

}  // namespace

void InferenceInput::fail(std::string_view rule) const {
  std::string shapes;
  for (const Shape& shape : operands) shapes += (shapes.empty() ? "" : ", ") + dims.to_string(shape);
  std::string where = source.empty() ? std::string() : " (from " + std::string(source) + ")";
  throw make_error(ErrorCode::invalid_argument, to_string(op), "(", shapes, ")", where, ": ", rule);
}

std::vector<Shape> infer_shapes(const InferenceInput& input) {
  const OpInfo& info = op_info(input.op);
  const std::size_t count = input.operands.size();
  if (count < info.min_operands || count > info.max_operands) {
    input.fail("takes " + std::to_string(info.min_operands) +
               (info.max_operands == info.min_operands ? "" : " or more") + " operands, not " + std::to_string(count));
  }
  input.require(input.attributes.index() == info.attributes_index, "has attributes of another op");
  if (info.kind != OpKind::region) {
    input.require(input.regions.empty(), "takes no regions");
    const std::size_t computed = input.op == Op::select || info.has(kIndexed) ? 0 : std::min<std::size_t>(count, 1);
    if (computed == 1 && !contains(info.dtypes, input.operands[0].dtype)) {
      input.fail("operand 0 has dtype " + std::string(alate::to_string(input.operands[0].dtype)) +
                 ", which this op does not take");
    }
  }
  return kRules[static_cast<std::size_t>(input.op)](input);
}

}  // namespace alate::graph
