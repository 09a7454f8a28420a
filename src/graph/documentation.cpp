#include "graph/documentation.h"

#include <limits>
#include <map>

#include "alate/error.h"
#include "graph/op.h"

namespace alate::graph {
namespace {

std::string_view type_name(std::int64_t) { return "integer"; }
std::string_view type_name(bool) { return "true or false"; }
std::string_view type_name(double) { return "number"; }
std::string_view type_name(DType) { return "dtype"; }
std::string_view type_name(Dim) { return "dim"; }
std::string_view type_name(const Numbers&) { return "integers"; }
std::string_view type_name(const Dims&) { return "dims"; }
std::string_view type_name(const Groups&) { return "groups of integers"; }

template <typename Enum>
std::string enumerators(Enum last) {
  std::string names;
  for (int number = 0; number <= static_cast<int>(last); ++number)
    names += (number == 0 ? "" : ", ") + std::string(to_string(static_cast<Enum>(number)));
  return "one of " + names;
}
std::string type_name(Activation) { return enumerators(Activation::quick_gelu); }
std::string type_name(PoolMode) { return enumerators(PoolMode::weighted_mean); }
std::string type_name(Reduction) { return enumerators(Reduction::bitwise_xor); }
std::string type_name(FftKind) { return enumerators(FftKind::irfft); }
std::string type_name(RngAlgorithm) { return enumerators(RngAlgorithm::philox); }
std::string type_name(tensor::EncodingKind) { return enumerators(tensor::kLastEncoding); }

template <typename Struct>
std::string fields_of() {
  std::string text;
  const Struct attributes;
  const auto add = [&](const auto& field) {
    text += text.empty() ? "`" : "; `";
    text += field.name;
    text += "` (";
    text += type_name(attributes.*field.member);
    text += ')';
  };
  std::apply([&](const auto&... field) { (add(field), ...); }, Struct::fields());
  return text.empty() ? "none" : text;
}

std::string attributes_of(Op op) {
  switch (op) {
#define ALATE_LEAF_OP(name, arity, attributes, ...) \
  case Op::name: return fields_of<attributes>();
#define ALATE_OP ALATE_LEAF_OP
#define ALATE_REGION_OP ALATE_LEAF_OP
#define ALATE_MULTI_OP ALATE_LEAF_OP
#define ALATE_FUSED_OP ALATE_LEAF_OP
#define ALATE_MULTI_FUSED_OP ALATE_LEAF_OP
#include "graph/ops.def"
  }
  throw make_error(ErrorCode::internal, "an op is not in the op table");
}

std::string operands_of(const OpInfo& op) {
  if (op.max_operands == std::numeric_limits<std::uint32_t>::max()) return "any number";
  if (op.min_operands == op.max_operands) return std::to_string(op.min_operands);
  return std::to_string(op.min_operands) + " to " + std::to_string(op.max_operands);
}

std::string dtypes_of(const OpInfo& op) {
  std::string text;
  for (const DType dtype : all_dtypes()) {
    if (!contains(op.dtypes, dtype)) continue;
    text += text.empty() ? "" : ", ";
    text += alate::to_string(dtype);
  }
  return text;
}

std::string_view heading(OpKind kind) {
  switch (kind) {
    case OpKind::leaf: return "Leaves";
    case OpKind::standard: return "Standard ops";
    case OpKind::region: return "Ops with regions";
    case OpKind::fused: return "Fused ops";
  }
  return {};
}

std::string_view introduction(OpKind kind) {
  switch (kind) {
    case OpKind::leaf: return "Where values come from; the builder makes them.";
    case OpKind::standard: return "Their meaning is StableHLO's where it has the op of that name.";
    case OpKind::region: return "Their regions are closed: everything that a region reads is its parameter.";
    case OpKind::fused:
      return "Each has a decomposition into standard ops and fused ops above it, for backends without it.";
  }
  return {};
}

}  // namespace

std::string ops_documentation() {
  std::string text =
      "# Ops\n\nMade from the op table, `src/graph/ops.def`; what the attributes mean is in "
      "`src/graph/attributes.h`.\n";
  const OpInfo* before = nullptr;
  for (const OpInfo& op : all_ops()) {
    if (before == nullptr || before->kind != op.kind) {
      text += "\n## " + std::string(heading(op.kind)) + "\n\n" + std::string(introduction(op.kind)) + "\n";
    }
    before = &op;
    text += "\n### " + std::string(op.name) + "\n\n" + std::string(op.sentence) + "\n\n";
    text += "- operands: " + operands_of(op) + "\n";
    text += "- attributes: " + attributes_of(op.op) + "\n";
    text += "- dtypes: " + dtypes_of(op) + "\n";
  }
  return text;
}

}  // namespace alate::graph
