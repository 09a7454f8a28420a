#include "graph/infer.h"

#include <algorithm>
#include <limits>

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
#define ALATE_MULTI_FUSED_OP ALATE_LEAF_OP
#include "graph/ops.def"
};

}  // namespace

void InferenceInput::fail(std::string_view rule, ErrorCode code) const {
  std::string shapes;
  for (const Shape& shape : operands) shapes += (shapes.empty() ? "" : ", ") + dims.to_string(shape);
  std::string where = source.empty() ? std::string() : " (from " + std::string(source) + ")";
  throw make_error(code, to_string(op), "(", shapes, ")", where, ": ", rule);
}

bool is_countable(const Shape& shape) {
  std::int64_t left = std::numeric_limits<std::int64_t>::max() / 16;  // 16: bytes of the largest element
  for (const Dim dim : shape.dims) {
    if (dim.is_number()) left /= std::max<std::int64_t>(dim.number(), 1);
  }
  return left > 0;
}

std::vector<Shape> infer_shapes(const InferenceInput& input) {
  const OpInfo& info = op_info(input.op);
  const std::size_t count = input.operands.size();
  if (count < info.min_operands || count > info.max_operands) {
    std::string wanted = std::to_string(info.min_operands);
    if (info.max_operands != info.min_operands) wanted += " to " + std::to_string(info.max_operands);
    input.fail("takes " + wanted + " operands, not " + std::to_string(count));
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
  std::vector<Shape> results;
  try {
    results = kRules[static_cast<std::size_t>(input.op)](input);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::resource_exhausted) input.fail(error.message(), error.code());
    throw;
  }
  for (const Shape& result : results)
    input.require(is_countable(result), [&] {
      return "the number of elements of the result " + input.dims.to_string(result) + " overflows";
    });
  return results;
}

}  // namespace alate::graph
