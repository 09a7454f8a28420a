#include "graph/constant.h"

#include <bit>

namespace alate::graph {
namespace {

void add_value(FingerprintBuilder& builder, std::int64_t value) { builder.add(static_cast<std::uint64_t>(value)); }
void add_value(FingerprintBuilder& builder, bool value) { builder.add(std::uint64_t{value}); }
void add_value(FingerprintBuilder& builder, double value) { builder.add(std::bit_cast<std::uint64_t>(value)); }
void add_value(FingerprintBuilder& builder, DType value) { builder.add(to_string(value)); }
void add_value(FingerprintBuilder& builder, Activation value) { builder.add(to_string(value)); }
void add_value(FingerprintBuilder& builder, PoolMode value) { builder.add(to_string(value)); }
void add_value(FingerprintBuilder& builder, Reduction value) { builder.add(to_string(value)); }
void add_value(FingerprintBuilder& builder, FftKind value) { builder.add(to_string(value)); }
void add_value(FingerprintBuilder& builder, RngAlgorithm value) { builder.add(to_string(value)); }
void add_value(FingerprintBuilder& builder, tensor::EncodingKind value) { builder.add(to_string(value)); }
void add_value(FingerprintBuilder& builder, Dim value) {
  builder.add(std::uint64_t{value.is_number()});
  builder.add(value.is_number() ? static_cast<std::uint64_t>(value.number()) : static_cast<std::uint64_t>(value.id()));
}
template <typename Element>
void add_value(FingerprintBuilder& builder, const std::vector<Element>& values) {
  builder.add(std::uint64_t{values.size()});
  for (const Element& value : values) add_value(builder, value);
}

void add_shape(FingerprintBuilder& builder, const Shape& shape) {
  add_value(builder, shape.dtype);
  add_value(builder, shape.dims);
}

}  // namespace

void add_attributes(FingerprintBuilder& builder, const Attributes& attributes) {
  const auto add_field = [&](const auto& field, const auto& attribute) {
    if (field.is_absent_from(attribute)) return;
    builder.add(field.name);
    add_value(builder, attribute.*field.member);
  };
  std::visit(
      [&]<typename Struct>(const Struct& attribute) {
        std::apply([&](const auto&... field) { (add_field(field, attribute), ...); }, Struct::fields());
      },
      attributes);
}

ConstantPtr make_constant(std::string name, Tensor tensor, const Fingerprint& identity) {
  auto constant = std::make_shared<Constant>();
  constant->name = std::move(name);
  constant->shape = tensor.shape();
  constant->identity = identity;
  constant->tensor = std::move(tensor);
  return constant;
}

ConstantPtr make_constant(std::string name, Tensor tensor) {
  FingerprintBuilder builder;
  add_shape(builder, tensor.shape());
  builder.add(tensor.bytes());
  return make_constant(std::move(name), std::move(tensor), builder.finish());
}

ConstantPtr make_constant(Op op, Attributes attributes, Shape shape, std::vector<ConstantPtr> operands) {
  FingerprintBuilder builder;
  builder.add(to_string(op));
  add_attributes(builder, attributes);
  add_shape(builder, shape);
  for (const ConstantPtr& operand : operands) builder.add(operand->identity);
  auto constant = std::make_shared<Constant>();
  constant->name = operands.empty() ? std::string(to_string(op)) : operands.front()->name;
  constant->shape = std::move(shape);
  constant->identity = builder.finish();
  constant->op = op;
  constant->attributes = std::move(attributes);
  constant->operands = std::move(operands);
  return constant;
}

}  // namespace alate::graph
