#include "tests/conformance/cases/module.h"

#include <cmath>
#include <limits>

#include "alate/error.h"
#include "graph/infer.h"
#include "tensor/element.h"
#include "tests/conformance/cases/elements.h"
#include "tests/conformance/cases/regions.h"
#include "tests/conformance/cases/values.h"
#include "tests/conformance/random/dim_namer.h"

namespace alate::conformance {
namespace {

using graph::Builder;
using graph::Value;

void make_magnitudes(Tensor& tensor) {
  for (std::int64_t i = 0; i < tensor.element_count(); ++i) {
    if (is_computed_float(tensor.dtype())) set_float(tensor, i, std::abs(float_at(tensor, i)));
    if (is_complex(tensor.dtype())) {
      const std::complex<double> z = complex_at(tensor, i);
      set_complex(tensor, i, {std::abs(z.real()) + std::abs(z.imag()), 0});
    }
  }
}

bool is_arithmetic(graph::Op op) {
  const graph::OpInfo& info = graph::op_info(op);
  return info.has(graph::kElementwise) && info.kind == graph::OpKind::standard;
}

// A power loses as many bits as exponent * log(base) has before the point, and what is computed in a wider type has
// those.
constexpr double kMostOfPowers = 0x1p10, kMostOfWidestPowers = 4;

void make_moderate(Tensor& tensor, graph::Op op) {
  if (!is_complex(tensor.dtype())) return;
  const bool is_widest = tensor.dtype() == DType::c128;
  const double most =
      op == graph::Op::pow ? (is_widest ? kMostOfWidestPowers : kMostOfPowers) : (is_widest ? 0x1p500 : 0x1p60);
  const auto moderate = [&](double x) {
    if (x == 0) return 0.0;  // the sign of a zero part chooses a side of a branch cut
    return std::abs(x) <= most && std::abs(x) >= 1 / most ? x : std::copysign(1.5, x);
  };
  for (std::int64_t i = 0; i < tensor.element_count(); ++i) {
    const std::complex<double> z = complex_at(tensor, i);
    set_complex(tensor, i, {moderate(z.real()), moderate(z.imag())});
  }
}

// Of small floats: the NaN that conversions give, with the sign that is there.
void make_nans_usual(Tensor& tensor) {
  const DType dtype = tensor.dtype();
  if (!is_float(dtype) || bits_of(dtype) != 8) return;
  std::byte usual{};
  tensor::store_double(dtype, std::numeric_limits<double>::quiet_NaN(), &usual);
  const std::byte sign{0x80};
  for (std::byte& element : tensor.mutable_bytes()) {
    if (is_small_nan(dtype, std::to_integer<std::uint64_t>(element))) element = (usual & ~sign) | (element & sign);
  }
}

graph::Numbers reversed(std::size_t rank) {
  graph::Numbers axes;
  for (std::size_t i = rank; i-- > 0;) axes.push_back(static_cast<std::int64_t>(i));
  return axes;
}

// What the parameter behind a view looks like.
Shape behind_view(Shape shape, View view) {
  if (view == View::transposed) return {shape.dtype, {shape.dims.rbegin(), shape.dims.rend()}};
  if (view == View::broadcast && shape.rank() > 0) shape.dims[0] = 1;
  if (view == View::strided) {
    for (Dim& dim : shape.dims) dim = 2 * dim.number() + 1;
  }
  return shape;
}

Value through_view(Builder& b, Value parameter, const Shape& shape, View view) {
  graph::Numbers axes = reversed(shape.rank());
  if (view == View::transposed) return b.transpose({parameter}, {.permutation = axes});
  if (view == View::broadcast)
    return b.broadcast_in_dim({parameter}, {.dims = shape.dims, .mapping = {axes.rbegin(), axes.rend()}});
  if (view == View::strided) {
    graph::Dims limits;
    for (const Dim dim : shape.dims) limits.emplace_back(2 * dim.number() + 1);
    return b.slice(
        {parameter},
        {.starts = graph::Dims(shape.rank(), 1), .limits = limits, .strides = graph::Numbers(shape.rank(), 2)});
  }
  return parameter;
}

class ModuleBuilder {
 public:
  explicit ModuleBuilder(const ModuleOptions& options) : options_(options), b_("conformance"), names_(b_.dims()) {}

  void add(const Case& subject) {
    std::vector<Value> operands;
    std::vector<Shape> shapes;
    for (std::size_t i = 0; i < subject.operands.size(); ++i) {
      operands.push_back(operand(subject, i));
      shapes.push_back(b_.shape(operands.back()));
    }
    graph::Attributes attributes = subject.attributes;
    names_.apply(attributes);
    std::vector<graph::Region> regions;
    for (const std::string& name : subject.regions) regions.push_back(make_region(name, subject, shapes, b_.dims()));
    first_output_.push_back(outputs_);
    for (const Value result : b_.emit(subject.op, operands, attributes, regions))
      b_.output("y" + std::to_string(outputs_++), result);
  }

  Module finish() {
    // A dim of attributes alone gets its value from an input that nothing reads.
    for (const DimId id : names_.used()) {
      if (bound_.contains(id)) continue;
      add_input({DType::u8, {*b_.dims()->find("d" + std::to_string(id))}}, Tensor::zeros({DType::u8, {Dim(id)}}));
    }
    first_output_.push_back(outputs_);
    return {b_.finish(), std::move(inputs_), std::move(first_output_)};
  }

 private:
  Value add_input(const Shape& shape, const Tensor& tensor) {
    inputs_.push_back(tensor);
    return b_.parameter("x" + std::to_string(inputs_.size() - 1), shape);
  }

  Value operand(const Case& subject, std::size_t place) {
    Case stored = subject;  // the case as its values are stored: behind the view
    Operand& operand = stored.operands[place];
    operand.shape = behind_view(operand.shape, operand.view);
    Tensor tensor = values_of(stored, place);
    if (!options_.complex_edges && is_arithmetic(subject.op)) make_moderate(tensor, subject.op);
    if (!options_.keeps_nan_bits && subject.op == graph::Op::bitcast) make_nans_usual(tensor);
    if (options_.operands == Operands::magnitudes) make_magnitudes(tensor);
    const bool is_flushed =
        options_.operands == Operands::flushed || (!options_.powers_of_subnormals && subject.op == graph::Op::pow);
    if (is_flushed) tensor = flushed(tensor);
    Shape shape = operand.shape, seen = subject.operands[place].shape;
    if (!operand.is_constant) {
      for (const Dim dim : shape.dims) {
        if (!dim.is_number()) bound_.insert(dim.id());
      }
    }
    names_.apply(shape.dims);
    names_.apply(seen.dims);
    const Value stored_value = operand.is_constant ? b_.constant(tensor) : add_input(shape, tensor);
    return through_view(b_, stored_value, seen, operand.view);
  }

  ModuleOptions options_;
  Builder b_;
  DimNamer names_;
  std::set<DimId> bound_;
  std::vector<Tensor> inputs_;
  std::vector<std::size_t> first_output_;
  std::size_t outputs_ = 0;
};

}  // namespace

Module make_module(std::span<const Case> cases, const ModuleOptions& options) {
  ModuleBuilder builder(options);
  for (const Case& subject : cases) builder.add(subject);
  return builder.finish();
}

std::optional<std::vector<Shape>> results_of(const Case& subject) {
  auto table = std::make_shared<graph::DimTable>();
  DimNamer names(table);
  std::vector<Shape> shapes;
  for (const Operand& operand : subject.operands) {
    shapes.push_back(operand.shape);
    names.apply(shapes.back().dims);
  }
  graph::Attributes attributes = subject.attributes;
  names.apply(attributes);
  try {
    std::vector<graph::Region> regions;
    for (const std::string& name : subject.regions) regions.push_back(make_region(name, subject, shapes, table));
    return graph::infer_shapes({subject.op, attributes, shapes, regions, *table, {}});
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_argument) throw;
    return std::nullopt;
  }
}

}  // namespace alate::conformance
