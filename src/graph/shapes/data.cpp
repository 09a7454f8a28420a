#include <algorithm>

#include "alate/error.h"
#include "graph/shapes/axes.h"
#include "graph/shapes/rules.h"

namespace alate::graph {
namespace {

// The product of the numbers, and the sorted ids: where both are equal, so are the products.
std::pair<std::int64_t, std::vector<DimId>> extent_product(const Dims& dims) {
  Shape numbers{DType::u8, {}};
  std::vector<DimId> named;
  for (const Dim dim : dims) {
    if (dim.is_number()) {
      numbers.dims.push_back(dim);
    } else {
      named.push_back(dim.id());
    }
  }
  std::sort(named.begin(), named.end());
  const std::int64_t product = numbers.element_count();
  if (product == 0) named.clear();
  return {product, named};
}

// The number of elements as a form.
DimForm element_form(DimTable& dims, const Dims& extents) {
  DimForm product = 1;
  for (const Dim extent : extents) product = dims.product(product, dims.form(extent));
  return product;
}

bool have_as_many_elements(DimTable& dims, const Dims& a, const Dims& b) {
  return extent_product(a) == extent_product(b) || element_form(dims, a) == element_form(dims, b);
}

// The extents from `start` to `limit`, `stride` apart.
Dim slice_extent(const InferenceInput& input, const std::string& axis, Dim extent, Dim start, Dim limit,
                 std::int64_t stride) {
  DimTable& dims = input.dims;
  const DimForm whole = dims.form(extent), from = dims.form(start), to = dims.form(limit);
  input.require(dims.is_at_most(from, to), [&] {
    return axis + "start " + dims.to_string(start) + " must not be above limit " + dims.to_string(limit) +
           ", and their bounds do not prove it";
  });
  // Whether the end is within an extent with a name may be the caller's word, for numbers and for a limit alone.
  const bool may_trust = (start.is_number() && limit.is_number()) || (start == Dim(0) && stride == 1);
  const bool is_past_end = dims.bounds(whole - to).most < 0;
  input.require(may_trust ? !is_past_end : dims.is_at_most(to, whole), [&] {
    return axis + "limit " + dims.to_string(limit) + (is_past_end ? " is past the end" : " may be past the end");
  });
  return dims.of(dims.quotient_up(to - from, stride));
}

}  // namespace

std::vector<Shape> infer_iota(const InferenceInput& input) {
  const Iota& iota = input.as<Iota>();
  require_dims(input, iota.dims, "dims");
  input.require(contains(kNumbers, iota.dtype),
                "dtype must be a number's, not " + std::string(alate::to_string(iota.dtype)));
  input.require(iota.axis >= 0 && static_cast<std::uint64_t>(iota.axis) < iota.dims.size(),
                "axis " + std::to_string(iota.axis) + " is outside the rank of dims");
  return {{iota.dtype, iota.dims}};
}

std::vector<Shape> infer_reshape(const InferenceInput& input) {
  const Dims& dims = input.as<Reshape>().dims;
  require_dims(input, dims, "dims");
  input.require(have_as_many_elements(input.dims, dims, input.operands[0].dims),
                "element counts differ: " + input.dims.to_string(Shape{input.operands[0].dtype, dims}));
  return {{input.operands[0].dtype, dims}};
}

std::vector<Shape> infer_transpose(const InferenceInput& input) {
  const Numbers& permutation = input.as<Permutation>().permutation;
  const Shape& x = input.operands[0];
  input.require(permutation.size() == x.rank() && are_distinct_axes(permutation, x.rank()),
                "permutation must name each axis of operand 0 once");
  Shape result{x.dtype, {}};
  for (const std::int64_t axis : permutation) result.dims.push_back(x.dims[static_cast<std::size_t>(axis)]);
  return {result};
}

std::vector<Shape> infer_broadcast_in_dim(const InferenceInput& input) {
  const auto& [dims, mapping] = input.as<BroadcastInDim>();
  const Shape& x = input.operands[0];
  require_dims(input, dims, "dims");
  input.require(mapping.size() == x.rank() && are_distinct_axes(mapping, dims.size()),
                "mapping must name a different axis of the result for each axis of operand 0");
  for (std::size_t i = 0; i < x.rank(); ++i) {
    const Dim to = dims[static_cast<std::size_t>(mapping[i])];
    input.require(x.dims[i] == to || x.dims[i] == Dim(1),
                  "axis " + std::to_string(i) + " of operand 0 is neither 1 nor " + input.dims.to_string(to) +
                      ", the extent of axis " + std::to_string(mapping[i]) + " of the result " +
                      input.dims.to_string(Shape{x.dtype, dims}));
  }
  return {{x.dtype, dims}};
}

std::vector<Shape> infer_concatenate(const InferenceInput& input) {
  input.require(!input.operands.empty(), "needs at least one operand");
  Shape result = input.operands[0];
  const std::size_t at = require_axis(input, input.as<Axis>().axis, 0, "axis");
  for (std::size_t place = 1; place < input.operands.size(); ++place) {
    const Shape& operand = input.operands[place];
    const std::string name = "operand " + std::to_string(place);
    input.require(operand.dtype == result.dtype && operand.rank() == result.rank(),
                  name + " must have the dtype and the rank of operand 0");
    for (std::size_t i = 0; i < result.rank(); ++i) {
      input.require(i == at || operand.dims[i] == result.dims[i],
                    name + " may differ from operand 0 along axis " + std::to_string(at) + " alone");
    }
    result.dims[at] = input.dims.of(input.dims.form(result.dims[at]) + input.dims.form(operand.dims[at]));
  }
  return {result};
}

std::vector<Shape> infer_slice(const InferenceInput& input) {
  const auto& [starts, limits, strides] = input.as<Slice>();
  const Shape& x = input.operands[0];
  input.require(
      starts.size() == x.rank() && limits.size() == x.rank() && (strides.empty() || strides.size() == x.rank()),
      "needs a start, a limit and a stride for each axis of operand 0");
  require_dims(input, starts, "starts");
  require_dims(input, limits, "limits");
  Shape result{x.dtype, {}};
  for (std::size_t i = 0; i < x.rank(); ++i) {
    const std::int64_t stride = strides.empty() ? 1 : strides[i];
    const std::string axis = "axis " + std::to_string(i) + " of operand 0: ";
    input.require(stride >= 1, axis + "stride must be positive");
    if (starts[i] == Dim(0) && limits[i] == x.dims[i] && stride == 1) {
      result.dims.push_back(x.dims[i]);
      continue;
    }
    result.dims.push_back(slice_extent(input, axis, x.dims[i], starts[i], limits[i], stride));
  }
  return {result};
}

std::vector<Shape> infer_dot_general(const InferenceInput& input) {
  const DotGeneral& dot = input.as<DotGeneral>();
  const Shape& lhs = input.operands[0];
  const Shape& rhs = input.operands[1];
  input.require(lhs.dtype == rhs.dtype, "operand 1 must have the dtype of operand 0");
  Numbers lhs_axes = dot.lhs_batch, rhs_axes = dot.rhs_batch;
  lhs_axes.insert(lhs_axes.end(), dot.lhs_contracting.begin(), dot.lhs_contracting.end());
  rhs_axes.insert(rhs_axes.end(), dot.rhs_contracting.begin(), dot.rhs_contracting.end());
  input.require(
      dot.lhs_batch.size() == dot.rhs_batch.size() && dot.lhs_contracting.size() == dot.rhs_contracting.size(),
      "operands 0 and 1 need as many batch and contracting axes");
  input.require(
      are_distinct_axes(lhs_axes, lhs.rank()) && are_distinct_axes(rhs_axes, rhs.rank()),
      "lhs_batch and lhs_contracting must be different axes of operand 0, rhs_batch and rhs_contracting of operand 1");
  for (std::size_t i = 0; i < lhs_axes.size(); ++i) {
    const Dim left = lhs.dims[static_cast<std::size_t>(lhs_axes[i])],
              right = rhs.dims[static_cast<std::size_t>(rhs_axes[i])];
    input.require(left == right, "axis " + std::to_string(lhs_axes[i]) + " of operand 0 is " +
                                     input.dims.to_string(left) + " but axis " + std::to_string(rhs_axes[i]) +
                                     " of operand 1 is " + input.dims.to_string(right));
  }
  Shape result{lhs.dtype, {}};
  for (const std::int64_t axis : dot.lhs_batch) result.dims.push_back(lhs.dims[static_cast<std::size_t>(axis)]);
  const auto add_free = [&](const Shape& side, const Numbers& used) {
    for (std::size_t i = 0; i < side.rank(); ++i) {
      if (std::count(used.begin(), used.end(), static_cast<std::int64_t>(i)) == 0) result.dims.push_back(side.dims[i]);
    }
  };
  add_free(lhs, lhs_axes);
  add_free(rhs, rhs_axes);
  return {result};
}

}  // namespace alate::graph
