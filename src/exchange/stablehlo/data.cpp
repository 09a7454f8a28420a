// Ops that move elements.
#include <algorithm>

#include "alate/error.h"
#include "exchange/stablehlo/ops.h"
#include "exchange/stablehlo/rules.h"
#include "exchange/stablehlo/types.h"
#include "graph/interpreter.h"
#include "graph/window_axis.h"
#include "tensor/packed.h"

namespace alate::exchange {
namespace {

// Operands from `first` on as scalars of one dtype.
HloValues starts(HloWriter& w, const HloCall& call, std::size_t first) {
  HloValues values;
  for (std::size_t i = first; i < call.operands.size(); ++i) values.push_back(as_indices(w, call.operand(i)));
  const bool is_wide = std::ranges::any_of(values, [](const HloValue& v) { return v.shape.dtype == DType::i64; });
  for (HloValue& value : values) value = convert(w, value, is_wide ? DType::i64 : DType::i32);
  return values;
}

HloValues after(HloValues values, const HloValues& more) {
  values.insert(values.end(), more.begin(), more.end());
  return values;
}

// Extents computed inside a region cannot be returned from it.
void check_extents(HloWriter& w, const HloCall& call) {
  const graph::Node& from = call.graph.nodes()[call.node.operands[1].node];
  const ExtentCheck check{extents_of(call.shape()), call.graph.source(call.node.source)};
  if (!w.is_in_region()) return w.check_extents(call.operand(1), check);
  if (from.op != graph::Op::constant)
    throw make_error(ErrorCode::unsupported, "dynamic_reshape", check.source.empty() ? "" : " of " + check.source,
                     " cannot be written as StableHLO: its extents are computed in a region, where they cannot be "
                     "checked: dynamic_reshape");
  const auto index = static_cast<std::size_t>(std::get<graph::Index>(from.attributes).index);
  require_extents(check, graph::materialize(*call.graph.constants()[index]));
}

}  // namespace

HloValues write_iota(HloWriter& w, const HloCall& call) { return {iota(w, call.shape(), call.as<graph::Iota>().axis)}; }

HloValues write_transpose(HloWriter& w, const HloCall& call) {
  return {transpose(w, call.operand(0), call.as<graph::Permutation>().permutation)};
}

HloValues write_broadcast_in_dim(HloWriter& w, const HloCall& call) {
  return {broadcast(w, call.operand(0), extents_of(call.shape()), call.as<graph::BroadcastInDim>().mapping)};
}

// Sub-byte elements are concatenated as bytes: XLA aborts on concatenations of 2-bit elements.
HloValues write_concatenate(HloWriter& w, const HloCall& call) {
  const DType dtype = call.shape().dtype;
  const bool is_small = is_integer(dtype) && tensor::is_packed(dtype);
  HloValues values = call.operands;
  for (HloValue& value : values) value = is_small ? convert(w, value, tensor::carrier_of(dtype)) : value;
  return {convert(w, concatenate(w, values, call.as<graph::Axis>().axis), dtype)};
}

HloValues write_slice(HloWriter& w, const HloCall& call) {
  const graph::Slice& slice = call.as<graph::Slice>();
  const Numbers strides = slice.strides.empty() ? Numbers(slice.starts.size(), 1) : slice.strides;
  return {w.op("slice", call.operands, call.shape(),
               "start_indices = " + array_attribute(call.dims(slice.starts)) + ", limit_indices = " +
                   array_attribute(call.dims(slice.limits)) + ", strides = " + array_attribute(strides))};
}

HloValues write_pad(HloWriter& w, const HloCall& call) {
  const auto& [low, high, interior] = call.as<graph::Pad>();
  Numbers between;
  // With at most one element, interior padding does not matter.
  for (std::size_t i = 0; i < low.size(); ++i)
    between.push_back(call.operand(0).shape.dims[i].number() > 1 ? graph::entry_or(interior, i, 0) : 0);
  return {w.op("pad", call.operands, call.shape(),
               "edge_padding_low = " + array_attribute(low) + ", edge_padding_high = " + array_attribute(high) +
                   ", interior_padding = " + array_attribute(between))};
}

HloValues write_reverse(HloWriter& w, const HloCall& call) {
  return {w.op("reverse", call.operands, call.shape(), "dimensions = " + array_attribute(call.as<graph::Axes>().axes))};
}

HloValues write_dynamic_slice(HloWriter& w, const HloCall& call) {
  return {w.op("dynamic_slice", after({call.operand(0)}, starts(w, call, 1)), call.shape(),
               "slice_sizes = " + array_attribute(extents_of(call.shape())))};
}

HloValues write_dynamic_update_slice(HloWriter& w, const HloCall& call) {
  if (call.operand(1).shape.element_count() == 0) return {call.operand(0)};
  return {w.op("dynamic_update_slice", after({call.operand(0), call.operand(1)}, starts(w, call, 2)), call.shape())};
}

HloValues write_dimension_size(HloWriter& w, const HloCall& call) {
  const Dim extent = call.operand(0).shape.dims[static_cast<std::size_t>(call.as<graph::Axis>().axis)];
  return {w.constant(Tensor::scalar(static_cast<std::int32_t>(extent.number())))};
}

HloValues write_dynamic_reshape(HloWriter& w, const HloCall& call) {
  if (w.options().extents_as_results) check_extents(w, call);
  return {reshape(w, call.operand(0), extents_of(call.shape()))};
}

}  // namespace alate::exchange
