#include "exchange/stablehlo/writer.h"

#include <utility>

#include "exchange/stablehlo/types.h"
#include "graph/interpreter.h"

namespace alate::exchange {
namespace {

std::vector<Shape> shapes_of(const HloValues& values) {
  std::vector<Shape> shapes;
  for (const HloValue& value : values) shapes.push_back(value.shape);
  return shapes;
}

std::string names_of(const HloValues& values) {
  std::string text;
  for (const HloValue& value : values) text += (text.empty() ? "" : ", ") + value.name;
  return text;
}

}  // namespace

void HloWriter::write_line(const std::string& line) { text_ += std::string(2 * depth_, ' ') + line + "\n"; }

void HloWriter::write_return(std::string_view op, const HloValues& results) {
  write_line("\"" + std::string(op) + "\"(" + names_of(results) + ") : " + tensor_types(shapes_of(results)) + " -> ()");
}

HloValue HloWriter::op(std::string_view name, const HloValues& operands, const Shape& result,
                       std::string_view attributes) {
  return ops(name, operands, {result}, attributes).front();
}

HloValues HloWriter::ops(std::string_view name, const HloValues& operands, const std::vector<Shape>& results,
                         std::string_view attributes, const std::vector<std::string>& regions) {
  const std::string made = new_name();
  std::string line = made + (results.size() == 1 ? "" : ":" + std::to_string(results.size())) + " = \"";
  line += (name.find('.') == std::string_view::npos ? "stablehlo." : "") + std::string(name);
  line += "\"(" + names_of(operands) + ")";
  std::string listed;
  for (const std::string& region : regions) listed += (listed.empty() ? "" : ", ") + region;
  if (!regions.empty()) line += " (" + listed + ")";
  if (!attributes.empty()) line += " {" + std::string(attributes) + "}";
  line += " : " + tensor_types(shapes_of(operands)) + " -> ";
  line += results.size() == 1 ? tensor_type(results[0]) : tensor_types(results);
  write_line(line);
  HloValues values;
  for (std::size_t i = 0; i < results.size(); ++i)
    values.push_back({results.size() == 1 ? made : made + "#" + std::to_string(i), results[i]});
  return values;
}

std::string HloWriter::region(const std::vector<Shape>& parameters, const Body& body, Reads reads) {
  std::string outside = std::exchange(text_, std::string());
  const bool was_closed = std::exchange(is_closed_, is_closed_ || reads == Reads::own_values_only);
  HloValues values;
  std::string taken;
  for (const Shape& shape : parameters) {
    values.push_back({new_name(), shape});
    taken += (taken.empty() ? "" : ", ") + values.back().name + ": " + tensor_type(shape);
  }
  if (!parameters.empty()) write_line("^bb0(" + taken + "):");
  ++depth_;
  write_return("stablehlo.return", body(values));
  --depth_;
  is_closed_ = was_closed;
  return "{\n" + std::exchange(text_, std::move(outside)) + std::string(2 * depth_, ' ') + "}";
}

void HloWriter::check_extents(const HloValue& found, ExtentCheck wanted) {
  checked_extents_.push_back(found);
  checks_.push_back(std::move(wanted));
}

HloValue HloWriter::constant(const Tensor& tensor) {
  return op("constant", {}, tensor.shape(), "value = " + literal(tensor) + " : " + tensor_type(tensor.shape()));
}

HloValue HloWriter::constant(const graph::ConstantPtr& constant) {
  if (is_closed_ || constant->shape.byte_count() <= options_.inline_constant_bytes)
    return this->constant(graph::materialize(*constant));
  const auto [place, is_new] = places_.try_emplace(constant->identity, large_constants_.size());
  if (is_new) {
    constant_arguments_.push_back({"%constant" + std::to_string(large_constants_.size()), constant->shape});
    large_constants_.push_back(constant);
  }
  return constant_arguments_[place->second];
}

}  // namespace alate::exchange
