#include <algorithm>
#include <limits>

#include "graph/shapes/rules.h"
#include "graph/shapes/windows.h"

namespace alate::graph {
namespace {

// Whether two axes and the spatial ones are exactly the axes of an operand.
bool names_each_axis(std::int64_t first, std::int64_t second, Numbers spatial, std::size_t rank) {
  spatial.push_back(first);
  spatial.push_back(second);
  std::sort(spatial.begin(), spatial.end());
  for (std::size_t i = 0; i < spatial.size(); ++i) {
    if (spatial[i] != static_cast<std::int64_t>(i)) return false;
  }
  return spatial.size() == rank;
}

Dim dim_at(const Shape& shape, std::int64_t axis) { return shape.dims[static_cast<std::size_t>(axis)]; }

// The extent of one of an axis's equal groups.
Dim group_extent(const InferenceInput& input, Dim extent, std::int64_t groups, std::string_view what) {
  if (groups == 1) return extent;
  input.require(extent.is_number() && extent.number() % groups == 0, std::string(what) + " must be a multiple of the " +
                                                                         std::to_string(groups) + " groups, not " +
                                                                         input.dims.to_string(extent));
  return extent.number() / groups;
}

}  // namespace

std::vector<Shape> infer_conv_general(const InferenceInput& input) {
  const Convolution& conv = input.as<Convolution>();
  const Shape &x = input.operands[0], &kernel = input.operands[1];
  input.require(x.dtype == kernel.dtype, "x and kernel must have one dtype");
  input.require(x.rank() >= 2 && kernel.rank() == x.rank(), "x and kernel must have one rank, 2 or more");
  const std::size_t spatial = x.rank() - 2;
  input.require(names_each_axis(conv.input_batch, conv.input_feature, conv.input_spatial, x.rank()),
                "input_batch, input_feature and input_spatial must name each axis of x once");
  input.require(names_each_axis(conv.kernel_input, conv.kernel_output, conv.kernel_spatial, x.rank()),
                "kernel_input, kernel_output and kernel_spatial must name each axis of the kernel once");
  input.require(names_each_axis(conv.output_batch, conv.output_feature, conv.output_spatial, x.rank()),
                "output_batch, output_feature and output_spatial must name each axis of the result once");
  require_entries(input, conv.strides, spatial, 1, "strides");
  require_entries(input, conv.padding_low, spatial, std::numeric_limits<std::int64_t>::min(), "padding_low");
  require_entries(input, conv.padding_high, spatial, std::numeric_limits<std::int64_t>::min(), "padding_high");
  require_entries(input, conv.lhs_dilation, spatial, 1, "lhs_dilation");
  require_entries(input, conv.rhs_dilation, spatial, 1, "rhs_dilation");
  input.require(conv.feature_groups >= 1 && conv.batch_groups >= 1, "feature_groups and batch_groups must be positive");
  input.require(conv.feature_groups == 1 || conv.batch_groups == 1,
                "feature_groups and batch_groups cannot both be above 1");

  const Dim batch = group_extent(input, dim_at(x, conv.input_batch), conv.batch_groups, "x's batch");
  const Dim features = group_extent(input, dim_at(x, conv.input_feature), conv.feature_groups, "x's features");
  const Dim kernel_input = dim_at(kernel, conv.kernel_input), output = dim_at(kernel, conv.kernel_output);
  input.require(kernel_input == features, "the kernel's input features are " + input.dims.to_string(kernel_input) +
                                              ", x's in each group " + input.dims.to_string(features));
  group_extent(input, output, conv.feature_groups * conv.batch_groups, "the kernel's output features");

  Shape result{x.dtype, Dims(x.rank())};
  result.dims[static_cast<std::size_t>(conv.output_batch)] = batch;
  result.dims[static_cast<std::size_t>(conv.output_feature)] = output;
  for (std::size_t i = 0; i < spatial; ++i) {
    const std::string axis = "spatial axis " + std::to_string(i);
    const Dim window = dim_at(kernel, conv.kernel_spatial[i]);
    input.require(window.is_number(), axis + ": the kernel's extent must be a number");
    result.dims[static_cast<std::size_t>(conv.output_spatial[i])] =
        window_count(input, axis, dim_at(x, conv.input_spatial[i]), window_axis(conv, i, window.number()));
  }
  return {result};
}

}  // namespace alate::graph
