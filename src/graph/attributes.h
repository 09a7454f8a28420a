// What an op needs to know besides its operands. Each struct lists its fields, so that printing, parsing, hashing and
// comparing are written once.
#pragma once

#include <cstdint>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "alate/tensor.h"

namespace alate::graph {

/// Functions that dense applies to its product before the residual is added. Formulas: `apply` in
/// decompose/activations.cpp.
enum class Activation : std::uint8_t { none, relu, gelu_erf, gelu_tanh, silu, tanh, sigmoid, quick_gelu };
/// How ragged_pool makes one row of many. The last two are sentence-transformers' pooling_mode_mean_sqrt_len_tokens and
/// _weightedmean_tokens.
enum class PoolMode : std::uint8_t { mean, cls, max, last, mean_sqrt_len, weighted_mean };

/// How values of several devices become one.
enum class Reduction : std::uint8_t {
  sum,
  product,
  max,
  min,
  logical_and,
  logical_or,
  logical_xor,
  bitwise_and,
  bitwise_or,
  bitwise_xor
};

std::string_view to_string(Activation activation);
std::string_view to_string(PoolMode mode);
std::string_view to_string(Reduction reduction);

/// Whether a field that has its default value is left out of the text form and of fingerprints, so that fields which
/// came later leave both as they were.
enum class Presence : std::uint8_t { always, unless_default };

template <typename Struct, typename Type>
struct Field {
  std::string_view name;
  Type Struct::*member;
  Presence presence = Presence::always;

  bool may_be_absent() const { return presence == Presence::unless_default; }
  bool is_absent_from(const Struct& attributes) const { return may_be_absent() && attributes.*member == Type{}; }
};
template <typename Struct, typename Type>
Field(std::string_view, Type Struct::*, Presence = Presence::always) -> Field<Struct, Type>;

using Numbers = std::vector<std::int64_t>;
using Dims = std::vector<Dim>;
using Groups = std::vector<Numbers>;

struct NoAttributes {
  static constexpr auto fields() { return std::tuple{}; }
  bool operator==(const NoAttributes&) const = default;
};
/// Of parameter and constant: the place in the graph's list.
struct Index {
  std::int64_t index = 0;
  static constexpr auto fields() { return std::tuple{Field{"index", &Index::index}}; }
  bool operator==(const Index&) const = default;
};
struct Convert {
  DType dtype = DType::invalid;
  static constexpr auto fields() { return std::tuple{Field{"dtype", &Convert::dtype}}; }
  bool operator==(const Convert&) const = default;
};
struct Iota {
  DType dtype = DType::i32;
  Dims dims;
  std::int64_t axis = 0;
  static constexpr auto fields() {
    return std::tuple{Field{"dtype", &Iota::dtype}, Field{"dims", &Iota::dims}, Field{"axis", &Iota::axis}};
  }
  bool operator==(const Iota&) const = default;
};
struct Reshape {
  Dims dims;
  static constexpr auto fields() { return std::tuple{Field{"dims", &Reshape::dims}}; }
  bool operator==(const Reshape&) const = default;
};
struct Permutation {
  Numbers permutation;
  static constexpr auto fields() { return std::tuple{Field{"permutation", &Permutation::permutation}}; }
  bool operator==(const Permutation&) const = default;
};
struct BroadcastInDim {
  Dims dims;
  Numbers mapping;
  static constexpr auto fields() {
    return std::tuple{Field{"dims", &BroadcastInDim::dims}, Field{"mapping", &BroadcastInDim::mapping}};
  }
  bool operator==(const BroadcastInDim&) const = default;
};
struct Axis {
  std::int64_t axis = 0;
  static constexpr auto fields() { return std::tuple{Field{"axis", &Axis::axis}}; }
  bool operator==(const Axis&) const = default;
};
struct Axes {
  Numbers axes;
  static constexpr auto fields() { return std::tuple{Field{"axes", &Axes::axes}}; }
  bool operator==(const Axes&) const = default;
};
struct Slice {
  Dims starts, limits;
  Numbers strides;  // empty: all 1
  static constexpr auto fields() {
    return std::tuple{Field{"starts", &Slice::starts}, Field{"limits", &Slice::limits},
                      Field{"strides", &Slice::strides}};
  }
  bool operator==(const Slice&) const = default;
};
/// Elements between each two, before the first and after the last, along each axis. Those of the edges may be negative:
/// as many elements (or padding between them) are cut off.
struct Pad {
  Numbers low, high, interior;  // interior empty: all 0
  static constexpr auto fields() {
    return std::tuple{Field{"low", &Pad::low}, Field{"high", &Pad::high}, Field{"interior", &Pad::interior}};
  }
  bool operator==(const Pad&) const = default;
};
struct DynamicSlice {
  Dims slice_sizes;
  static constexpr auto fields() { return std::tuple{Field{"slice_sizes", &DynamicSlice::slice_sizes}}; }
  bool operator==(const DynamicSlice&) const = default;
};
/// https://openxla.org/stablehlo/spec#gather
struct Gather {
  Numbers offset_dims, collapsed_slice_dims, start_index_map;
  std::int64_t index_vector_dim = 0;
  Dims slice_sizes;
  Numbers operand_batching_dims = {}, start_indices_batching_dims = {};
  static constexpr auto fields() {
    return std::tuple{
        Field{"offset_dims", &Gather::offset_dims},
        Field{"collapsed_slice_dims", &Gather::collapsed_slice_dims},
        Field{"start_index_map", &Gather::start_index_map},
        Field{"index_vector_dim", &Gather::index_vector_dim},
        Field{"slice_sizes", &Gather::slice_sizes},
        Field{"operand_batching_dims", &Gather::operand_batching_dims, Presence::unless_default},
        Field{"start_indices_batching_dims", &Gather::start_indices_batching_dims, Presence::unless_default}};
  }
  bool operator==(const Gather&) const = default;
};
/// https://openxla.org/stablehlo/spec#scatter of one input. unique_indices promises that no two updates land on one
/// element; results are undefined where they do.
struct Scatter {
  Numbers update_window_dims, inserted_window_dims, input_batching_dims, scatter_indices_batching_dims,
      scatter_dims_to_operand_dims;
  std::int64_t index_vector_dim = 0;
  bool unique_indices = false;
  static constexpr auto fields() {
    return std::tuple{Field{"update_window_dims", &Scatter::update_window_dims},
                      Field{"inserted_window_dims", &Scatter::inserted_window_dims},
                      Field{"input_batching_dims", &Scatter::input_batching_dims},
                      Field{"scatter_indices_batching_dims", &Scatter::scatter_indices_batching_dims},
                      Field{"scatter_dims_to_operand_dims", &Scatter::scatter_dims_to_operand_dims},
                      Field{"index_vector_dim", &Scatter::index_vector_dim},
                      Field{"unique_indices", &Scatter::unique_indices}};
  }
  bool operator==(const Scatter&) const = default;
};
/// `dtype` is the place's.
struct ArgMinMax {
  std::int64_t axis = 0;
  DType dtype = DType::i32;
  bool is_min = false;
  static constexpr auto fields() {
    return std::tuple{Field{"axis", &ArgMinMax::axis}, Field{"dtype", &ArgMinMax::dtype},
                      Field{"is_min", &ArgMinMax::is_min}};
  }
  bool operator==(const ArgMinMax&) const = default;
};
struct Cumulative {
  std::int64_t axis = 0;
  bool reverse = false;    // from the last place to the first
  bool exclusive = false;  // without the value at the place itself; the first is what a reduction of nothing gives
  static constexpr auto fields() {
    return std::tuple{Field{"axis", &Cumulative::axis}, Field{"reverse", &Cumulative::reverse},
                      Field{"exclusive", &Cumulative::exclusive}};
  }
  bool operator==(const Cumulative&) const = default;
};
struct TopK {
  std::int64_t k = 1;
  static constexpr auto fields() { return std::tuple{Field{"k", &TopK::k}}; }
  bool operator==(const TopK&) const = default;
};
struct Sort {
  std::int64_t axis = 0;
  bool stable = true;  // elements of which neither comes before the other keep their order
  static constexpr auto fields() { return std::tuple{Field{"axis", &Sort::axis}, Field{"stable", &Sort::stable}}; }
  bool operator==(const Sort&) const = default;
};
/// Of collectives: replica_groups lists the devices of each group; none means one group of all devices.
struct AllReduce {
  Reduction reduction = Reduction::sum;
  Groups replica_groups;
  static constexpr auto fields() {
    return std::tuple{Field{"reduction", &AllReduce::reduction}, Field{"replica_groups", &AllReduce::replica_groups}};
  }
  bool operator==(const AllReduce&) const = default;
};
struct AllGather {
  std::int64_t axis = 0;
  Groups replica_groups;
  static constexpr auto fields() {
    return std::tuple{Field{"axis", &AllGather::axis}, Field{"replica_groups", &AllGather::replica_groups}};
  }
  bool operator==(const AllGather&) const = default;
};
struct AllToAll {
  std::int64_t split_axis = 0, concat_axis = 0, split_count = 1;
  Groups replica_groups;
  static constexpr auto fields() {
    return std::tuple{Field{"split_axis", &AllToAll::split_axis}, Field{"concat_axis", &AllToAll::concat_axis},
                      Field{"split_count", &AllToAll::split_count}, Field{"replica_groups", &AllToAll::replica_groups}};
  }
  bool operator==(const AllToAll&) const = default;
};
struct ReduceScatter {
  Reduction reduction = Reduction::sum;
  std::int64_t axis = 0;
  Groups replica_groups;
  static constexpr auto fields() {
    return std::tuple{Field{"reduction", &ReduceScatter::reduction}, Field{"axis", &ReduceScatter::axis},
                      Field{"replica_groups", &ReduceScatter::replica_groups}};
  }
  bool operator==(const ReduceScatter&) const = default;
};
/// Pairs of a device that sends and the one that receives.
struct CollectivePermute {
  Groups source_target_pairs;
  static constexpr auto fields() {
    return std::tuple{Field{"source_target_pairs", &CollectivePermute::source_target_pairs}};
  }
  bool operator==(const CollectivePermute&) const = default;
};
struct CollectiveBroadcast {
  Groups replica_groups;
  static constexpr auto fields() { return std::tuple{Field{"replica_groups", &CollectiveBroadcast::replica_groups}}; }
  bool operator==(const CollectiveBroadcast&) const = default;
};
/// https://openxla.org/stablehlo/spec#dot_general. The result's axes are the batch axes, then the free ones of the
/// left, then of the right.
struct DotGeneral {
  Numbers lhs_batch, rhs_batch, lhs_contracting, rhs_contracting;
  static constexpr auto fields() {
    return std::tuple{Field{"lhs_batch", &DotGeneral::lhs_batch}, Field{"rhs_batch", &DotGeneral::rhs_batch},
                      Field{"lhs_contracting", &DotGeneral::lhs_contracting},
                      Field{"rhs_contracting", &DotGeneral::rhs_contracting}};
  }
  bool operator==(const DotGeneral&) const = default;
};
struct Gelu {
  bool tanh_approximation = false;
  static constexpr auto fields() { return std::tuple{Field{"tanh_approximation", &Gelu::tanh_approximation}}; }
  bool operator==(const Gelu&) const = default;
};
struct Norm {
  double epsilon = 1e-12;
  static constexpr auto fields() { return std::tuple{Field{"epsilon", &Norm::epsilon}}; }
  bool operator==(const Norm&) const = default;
};
/// Operands: x [..., in], weight [out, in], then bias [out] and residual [..., out] where the flags say so.
struct Dense {
  bool has_bias = false, has_residual = false;
  Activation activation = Activation::none;
  static constexpr auto fields() {
    return std::tuple{Field{"has_bias", &Dense::has_bias}, Field{"has_residual", &Dense::has_residual},
                      Field{"activation", &Dense::activation}};
  }
  bool operator==(const Dense&) const = default;
};
/// attention: query [batch, queries, heads, width], key [batch, keys, kv_heads, width], value [batch, keys, kv_heads,
/// value_width], then, as the flags say, lengths i32 [batch] (keys at or past a sequence's length are not seen), bias
/// [1 or batch, 1 or heads, queries, keys] (added to the scaled scores), sinks [heads] (one more score in each softmax,
/// with no value behind it).
/// ragged_attention: query [tokens, heads, width], key, value [tokens, kv_heads, …], starts and lengths i32
/// [sequences], pad_index i32 [sequences, longest] (the token at each place; any token past a sequence's end),
/// unpad_index i32 [tokens, 2] (sequence and place of each token), then, as the flags say, key lengths i32 [sequences]
/// (tokens of a sequence at or past it look but are not seen), bias [1, 1 or heads, longest, longest] and sinks
/// [heads]. Heads are in groups: query head h reads key/value head h / (heads / kv_heads). A query that sees no key
/// gives zeros.
struct Attention {
  double scale = 1;
  bool has_lengths = false, has_bias = false, has_sinks = false;
  bool causal = false;            // the query at place i sees keys at places <= i
  std::int64_t window_left = -1;  // a query at place i sees keys at i - window_left … i + window_right; -1: no limit
  std::int64_t window_right = -1;
  double soft_cap = 0;  // scores become soft_cap · tanh(score / soft_cap) before bias and mask; 0: not
  static constexpr auto fields() {
    return std::tuple{Field{"scale", &Attention::scale},
                      Field{"has_lengths", &Attention::has_lengths},
                      Field{"has_bias", &Attention::has_bias},
                      Field{"has_sinks", &Attention::has_sinks},
                      Field{"causal", &Attention::causal},
                      Field{"window_left", &Attention::window_left},
                      Field{"window_right", &Attention::window_right},
                      Field{"soft_cap", &Attention::soft_cap}};
  }
  bool operator==(const Attention&) const = default;
};
/// Operands: x [tokens, width], starts and lengths i32 [sequences]. `longest` is an upper bound of the lengths (the dim
/// of pad_index).
struct Pool {
  PoolMode mode = PoolMode::mean;
  Dim longest;
  static constexpr auto fields() { return std::tuple{Field{"mode", &Pool::mode}, Field{"longest", &Pool::longest}}; }
  bool operator==(const Pool&) const = default;
};

using Attributes =
    std::variant<NoAttributes, Index, Convert, Iota, Reshape, Permutation, BroadcastInDim, Axis, Axes, Slice, Gather,
                 DotGeneral, Gelu, Norm, Dense, Attention, Pool, Pad, DynamicSlice, Scatter, ArgMinMax, Cumulative,
                 TopK, Sort, AllReduce, AllGather, AllToAll, ReduceScatter, CollectivePermute, CollectiveBroadcast>;

}  // namespace alate::graph
