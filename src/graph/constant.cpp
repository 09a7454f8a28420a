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
// Ids of a table depend on the order in which forms came into it; without a table they are compared within one graph.
void add_dim(FingerprintBuilder& builder, Dim value, const DimTable* dims) {
  builder.add(std::uint64_t{value.is_number()});
  if (value.is_number()) {
    builder.add(static_cast<std::uint64_t>(value.number()));
  } else if (dims != nullptr) {
    builder.add(dims->to_string(value));
  } else {
    builder.add(static_cast<std::uint64_t>(value.id()));
  }
}

class FieldAdder {
 public:
  FieldAdder(FingerprintBuilder& builder, const DimTable* dims) : builder_(builder), dims_(dims) {}

  template <typename Element>
  void add(const std::vector<Element>& values) const {
    builder_.add(std::uint64_t{values.size()});
    for (const Element& value : values) add(value);
  }
  void add(Dim value) const { add_dim(builder_, value, dims_); }
  template <typename Field>
  void add(const Field& value) const {
    add_value(builder_, value);
  }

 private:
  FingerprintBuilder& builder_;
  const DimTable* dims_;
};

}  // namespace

void add_shape(FingerprintBuilder& builder, const Shape& shape, const DimTable* dims) {
  const FieldAdder adder(builder, dims);
  adder.add(shape.dtype);
  adder.add(shape.dims);
}

void add_attributes(FingerprintBuilder& builder, const Attributes& attributes, const DimTable* dims) {
  const FieldAdder adder(builder, dims);
  const auto add_field = [&](const auto& field, const auto& attribute) {
    if (field.is_absent_from(attribute)) return;
    builder.add(field.name);
    adder.add(attribute.*field.member);
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
  add_shape(builder, tensor.shape(), nullptr);
  builder.add(tensor.bytes());
  return make_constant(std::move(name), std::move(tensor), builder.finish());
}

ConstantPtr make_constant(Op op, Attributes attributes, Shape shape, std::vector<ConstantPtr> operands) {
  FingerprintBuilder builder;
  builder.add(to_string(op));
  add_attributes(builder, attributes, nullptr);
  add_shape(builder, shape, nullptr);
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
