#include "tests/conformance/cases/regions.h"

#include "alate/error.h"

namespace alate::conformance {
namespace {

using graph::Builder;
using graph::Value;

Value doubled(Builder& b, Value x) { return b.shape(x).dtype == DType::boolean ? b.logical_not({x}) : b.add({x, x}); }

std::vector<Value> parameters(Builder& b, std::span<const Shape> shapes) {
  std::vector<Value> values;
  for (const Shape& shape : shapes) values.push_back(b.parameter("x" + std::to_string(values.size()), shape));
  return values;
}

void give(Builder& b, std::span<const Value> values) {
  for (std::size_t i = 0; i < values.size(); ++i) b.output("y" + std::to_string(i), values[i]);
}

// One pair of scalars for each value that the op combines: half of the operands of a reduction are where it starts.
void pairwise(Builder& b, std::string_view name, const Case& subject, std::span<const Shape> operands) {
  const bool is_sort = subject.op == graph::Op::sort;
  const std::size_t count = is_sort ? operands.size() : std::max<std::size_t>(operands.size() / 2, 1);
  const bool starts_apart = !is_sort;  // [a…, b…] in a reduction, [a, b, …] in a sort
  std::vector<Shape> scalars(2 * count);
  for (std::size_t i = 0; i < scalars.size(); ++i) scalars[i] = {operands[starts_apart ? i % count : i / 2].dtype, {}};
  const std::vector<Value> values = parameters(b, scalars);
  std::vector<Value> results;
  for (std::size_t i = 0; i < (is_sort ? 1 : count); ++i) {
    const Value one = values[i], other = values[starts_apart ? count + i : i + 1];
    if (name == "first" || name == "last") {
      results.push_back(name == "first" ? one : other);
    } else {
      results.push_back(b.emit(*graph::parse_op(name), {one, other}, graph::NoAttributes{}).front());
    }
  }
  give(b, results);
}

}  // namespace

graph::Region make_region(const std::string& name, const Case& subject, std::span<const Shape> operands,
                          const std::shared_ptr<graph::DimTable>& dims) {
  Builder b(name, dims);
  if (graph::parse_op(name) || name == "first" || name == "last") {
    pairwise(b, name, subject, operands);
  } else if (name == "counting") {
    const std::vector<Value> values = parameters(b, operands);
    b.output("go on", b.greater({values[0], b.scalar(operands[0].dtype, 0)}));
  } else if (name == "down") {
    std::vector<Value> values = parameters(b, operands);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = i == 0 ? b.sub({values[0], b.scalar(operands[0].dtype, 1)}) : doubled(b, values[i]);
    give(b, values);
  } else if (name == "body") {
    const std::vector<Value> values = parameters(b, operands);
    give(b, std::vector<Value>(values.rbegin(), values.rend()));
  } else if (name == "same" || name == "doubled") {
    std::vector<Value> values = parameters(b, operands.subspan(1));
    for (Value& value : values) value = name == "same" ? value : doubled(b, value);
    give(b, values);
  } else {
    throw make_error(ErrorCode::invalid_argument, "there is no region '", name, "'");
  }
  return std::make_shared<const graph::Graph>(b.finish());
}

}  // namespace alate::conformance
