// dot_general and conv_general.
#include <algorithm>

#include "exchange/onnx/spelling.h"
#include "exchange/onnx/windows.h"

namespace alate::exchange::onnx {
namespace {

using graph::Op;
using graph::set_of;

// The largest number of kernel elements that is written as slices.
constexpr std::int64_t kMaxKernelElements = 1024;

Numbers joined(Numbers first, const Numbers& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

bool has_zero(const Dims& dims) { return std::ranges::find(dims, Dim(0)) != dims.end(); }

// Merges axes into three: batch, rows and columns.
Term as_matrices(Emitter& e, const Term& x, const Dims& dims, const Numbers& batch, const Numbers& rows,
                 const Numbers& columns) {
  const Term moved = transpose(x, joined(joined(batch, rows), columns));
  if (rows.size() == 1 && columns.size() == 1 && batch.size() <= 1) return moved;
  return reshape_to(moved, concatenate({e.extents(picked(dims, batch)), product_of(e, picked(dims, rows)),
                                        product_of(e, picked(dims, columns))},
                                       0));
}

Terms dot_general(const Call& c) {
  const auto& dot = c.as<graph::DotGeneral>();
  const Dims &left = c.shape(0).dims, &right = c.shape(1).dims;
  const Numbers rows = other_axes(left.size(), joined(dot.lhs_batch, dot.lhs_contracting)),
                columns = other_axes(right.size(), joined(dot.rhs_batch, dot.rhs_contracting));
  // For empty products, the runtime leaves the result uninitialized.
  if (has_zero(left) || has_zero(right)) return {expand(to(c.e.integer(DType::i64, 0), c[0].dtype), c.result().dims)};
  const bool is_bool = c[0].dtype == DType::boolean;
  const auto number = [&](const Term& x) { return is_bool ? to(x, DType::i32) : x; };
  // MatMul directly takes rows with any number of axes times one matrix.
  const bool is_by_matrix =
      dot.lhs_batch.empty() && dot.lhs_contracting.size() == 1 && columns.size() == 1 && !rows.empty();
  Term result;
  if (is_by_matrix) {
    result = c.e.node("MatMul", is_bool ? DType::i32 : c[0].dtype,
                      {transpose(number(c[0]), joined(rows, dot.lhs_contracting)),
                       transpose(number(c[1]), joined(dot.rhs_contracting, columns))});
  } else {
    const Term a = as_matrices(c.e, number(c[0]), left, dot.lhs_batch, rows, dot.lhs_contracting);
    const Term b = as_matrices(c.e, number(c[1]), right, dot.rhs_batch, dot.rhs_contracting, columns);
    result = reshape(c.e.node("MatMul", a.dtype, {a, b}), c.result().dims);
  }
  return {is_bool ? result > 0 : result};
}

std::string refuse_dot_general(const graph::Graph& graph, const graph::Node& node, int /*opset*/) {
  return graph.shape(node.operands[0]).dtype == node.results[0].dtype ? "" : "the result has another dtype";
}

// A convolution with axes in ONNX's order (batch, features, spatial) and only feature groups.
struct OrderedConvolution {
  const graph::Convolution& attributes;
  Dims x_dims, kernel_dims, dims;  // kernel: out, in, spatial
  Numbers result_order;            // the result axis of each entry of `dims`
  std::vector<graph::WindowAxis> windows;
  std::int64_t groups;
};

OrderedConvolution ordered(const graph::Convolution& conv, const Shape& x, const Shape& kernel, const Shape& result) {
  OrderedConvolution o{conv, {}, {}, {}, {}, {}, std::max(conv.feature_groups, conv.batch_groups)};
  o.x_dims = picked(x.dims, joined({conv.input_batch, conv.input_feature}, conv.input_spatial));
  o.kernel_dims = picked(kernel.dims, joined({conv.kernel_output, conv.kernel_input}, conv.kernel_spatial));
  o.result_order = joined({conv.output_batch, conv.output_feature}, conv.output_spatial);
  o.dims = picked(result.dims, o.result_order);
  for (std::size_t i = 0; i < conv.kernel_spatial.size(); ++i) {
    const Dim extent = o.kernel_dims[i + 2];
    o.windows.push_back(graph::window_axis(conv, i, extent.is_number() ? extent.number() : 1));
  }
  return o;
}

// Conv does not support convolutions without spatial axes or with empty operands or results.
bool has_operator(const OrderedConvolution& o) {
  return !o.windows.empty() && !has_zero(o.dims) && !has_zero(o.x_dims) && !has_zero(o.kernel_dims);
}

// [batch, features, spatial], padded; batch groups become feature groups.
Term arranged_input(const Call& c, const OrderedConvolution& o) {
  const graph::Convolution& conv = o.attributes;
  Term x = transpose(c[0], joined({conv.input_batch, conv.input_feature}, conv.input_spatial));
  if (conv.batch_groups > 1) {
    const Dims rest(o.x_dims.begin() + 1, o.x_dims.end());
    const Term front = concatenate({c.e.integers({conv.batch_groups}), c.e.extent(o.dims[0])}, 0);
    x = reshape_to(x, concatenate({front, c.e.extents(rest)}, 0));
    x = transpose(x, joined({1, 0}, other_axes(rest.size() + 2, {0, 1})));
    const Term features = c.e.extent(rest[0]) * c.e.integers({conv.batch_groups});
    x = reshape_to(x, concatenate({c.e.extent(o.dims[0]), features, c.e.extents({rest.begin() + 1, rest.end()})}, 0));
  }
  for (std::size_t i = 0; i < o.windows.size(); ++i)
    x = spread_axis(x, o.x_dims, i + 2, o.windows[i], c.e.scalar(x.dtype, 0));
  return x;
}

Term by_operator(const Call& c, const OrderedConvolution& o, const Term& x, const Term& kernel) {
  Numbers strides, dilations;
  for (const graph::WindowAxis& window : o.windows) {
    strides.push_back(window.stride);
    dilations.push_back(window.window_dilation);
  }
  return c.e.node("Conv", x.dtype, {x, kernel},
                  {attribute("strides", strides), attribute("dilations", dilations), attribute("group", o.groups)});
}

// im2col: the input slices of all kernel elements, concatenated, times the kernel as a matrix.
Term by_product(const Call& c, const OrderedConvolution& o, const Term& x, const Term& kernel) {
  Terms slices{x};
  for (std::size_t i = 0; i < o.windows.size(); ++i) {
    Terms finer;
    for (const Term& part : slices) {
      for (std::int64_t place = 0; place < o.windows[i].window; ++place)
        finer.push_back(window_slice(part, i + 2, o.windows[i], place, o.dims[i + 2]));
    }
    slices = std::move(finer);
  }
  if (slices.empty() || has_zero(o.dims) || has_zero(o.kernel_dims)) return filled(c.e, x.dtype, 0, o.dims);
  for (Term& part : slices) part = unsqueeze(part, {2});
  const Term groups = c.e.integers({o.groups}), batch = c.e.extent(o.dims[0]);
  const Term places = product_of(c.e, {o.dims.begin() + 2, o.dims.end()});
  const Term inner = product_of(c.e, {o.kernel_dims.begin() + 1, o.kernel_dims.end()});
  const Term outputs = c.e.extent(o.dims[1]) / groups;
  const Term columns = reshape_to(concatenate(slices, 2), concatenate({batch, groups, inner, places}, 0));
  const Term rows = reshape_to(kernel, concatenate({groups, outputs, inner}, 0));
  return reshape(c.e.node("MatMul", x.dtype, {rows, columns}), o.dims);
}

Terms conv_general(const Call& c) {
  const auto& conv = c.as<graph::Convolution>();
  const OrderedConvolution o = ordered(conv, c.shape(0), c.shape(1), c.result());
  const Term x = arranged_input(c, o);
  const Term kernel = transpose(c[1], joined({conv.kernel_output, conv.kernel_input}, conv.kernel_spatial));
  const bool is_native = x.dtype == DType::f32 && has_operator(o);
  return {inverse_transpose(is_native ? by_operator(c, o, x, kernel) : by_product(c, o, x, kernel), o.result_order)};
}

std::string refuse_conv_general(const graph::Graph& graph, const graph::Node& node, int opset) {
  if (!refuse_dot_general(graph, node, opset).empty()) return refuse_dot_general(graph, node, opset);
  const OrderedConvolution o = ordered(std::get<graph::Convolution>(node.attributes), graph.shape(node.operands[0]),
                                       graph.shape(node.operands[1]), node.results[0]);
  if (node.results[0].dtype == DType::f32 && has_operator(o)) return "";
  std::int64_t places = 1;
  for (std::size_t i = 2; i < o.kernel_dims.size(); ++i) {
    if (!o.kernel_dims[i].is_number()) return "a kernel of a named extent needs Conv, which has f32 alone";
    places = std::min(places, kMaxKernelElements + 1) * std::min(o.kernel_dims[i].number(), kMaxKernelElements + 1);
  }
  return places > kMaxKernelElements ? "Conv has f32 alone, and the kernel has too many places for slices" : "";
}

constexpr Spelling kProductRows[] = {
    {Op::dot_general, kMain, "MatMul", dot_general, refuse_dot_general},
    {Op::conv_general, set_of(DType::f32), "Conv", conv_general, refuse_conv_general},
    {Op::conv_general, kNumbers, "Slice, MatMul", conv_general, refuse_conv_general},
};

}  // namespace

std::span<const Spelling> product_spellings() { return kProductRows; }

}  // namespace alate::exchange::onnx
