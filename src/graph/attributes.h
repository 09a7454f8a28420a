// Attributes of ops. Each struct lists its fields, so that printing, parsing, hashing and comparing are written once.
#pragma once

#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

#include "alate/tensor.h"
#include "tensor/encoding.h"

namespace alate::graph {

/// Functions that dense applies to its product before the residual is added. Formulas: `apply` in
/// decompose/activations.cpp.
enum class Activation : std::uint8_t { none, relu, gelu_erf, gelu_tanh, silu, tanh, sigmoid, quick_gelu };
/// How ragged_pool reduces a sequence's rows to one. The last two are sentence-transformers'
/// pooling_mode_mean_sqrt_len_tokens and _weightedmean_tokens.
enum class PoolMode : std::uint8_t { mean, cls, max, last, mean_sqrt_len, weighted_mean };

/// How values of several devices are combined; windows support only the first four.
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
/// rfft maps real values to the non-redundant half of their transform (n / 2 + 1 values); irfft is its inverse.
enum class FftKind : std::uint8_t { fft, ifft, rfft, irfft };
/// Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3": Threefry-2x32 with 20 rounds, Philox-4x32 with
/// 10.
enum class RngAlgorithm : std::uint8_t { threefry, philox };

std::string_view to_string(Activation activation);
std::string_view to_string(PoolMode mode);
std::string_view to_string(Reduction reduction);
std::string_view to_string(FftKind kind);
std::string_view to_string(RngAlgorithm algorithm);

/// Whether a field with its default value is left out of the text form and of fingerprints, so that fields added later
/// leave both unchanged.
enum class Presence : std::uint8_t { always, unless_default };

template <typename Struct, typename Type>
struct Field {
  std::string_view name;
  Type Struct::*member;
  Presence presence = Presence::always;
  std::string_view former_name = {};  // also read in the text form

  bool may_be_absent() const { return presence == Presence::unless_default; }
  bool is_absent_from(const Struct& attributes) const { return may_be_absent() && attributes.*member == Type{}; }
};
template <typename Struct, typename Type>
Field(std::string_view, Type Struct::*, Presence = Presence::always, std::string_view = {}) -> Field<Struct, Type>;

using Numbers = std::vector<std::int64_t>;
using Dims = std::vector<Dim>;
using Groups = std::vector<Numbers>;

struct NoAttributes {
  static constexpr auto fields() { return std::tuple{}; }
  bool operator==(const NoAttributes&) const = default;
};
/// For parameter and constant: the index into the graph's list.
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
/// Padding before the first element, after the last and between neighbors, along each axis. Edge padding may be
/// negative: it crops that many elements (or interior padding).
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
/// `dtype` is the result's, which holds indices.
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
  bool reverse = false;    // from the last element to the first
  bool exclusive = false;  // without the element itself; the first result is the reduction's identity
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
  bool stable = true;  // equivalent elements keep their order
  static constexpr auto fields() { return std::tuple{Field{"axis", &Sort::axis}, Field{"stable", &Sort::stable}}; }
  bool operator==(const Sort&) const = default;
};
/// Collectives: replica_groups lists the devices of each group; empty means one group of all devices.
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
/// Pairs of a sending and a receiving device.
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
/// https://openxla.org/stablehlo/spec#dot_general. The result's axes are the batch axes, then lhs's free axes, then
/// rhs's.
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
/// value_width], then, as the flags say, lengths i32 [batch] (keys at or past a sequence's length are masked), bias [1
/// or batch, 1 or heads, queries, keys] (added to the scaled scores), sinks [heads] (one more logit in each softmax,
/// without a value).
/// attention_gradient: attention's operands, then the gradient of its result; the results are the gradients of the
/// query, the key and the value, then of the bias and of the sinks where the flags say so.
/// ragged_attention: query [tokens, heads, width], key, value [tokens, kv_heads, …], starts and lengths i32
/// [sequences], then, as the flags say, key lengths i32 [sequences] (later tokens of a sequence attend but are masked
/// as keys), bias [1 or sequences, 1 or heads, longest, longest], sinks [heads], and scores by distance of queries
/// [heads, tokens, 2, longest] and of keys [heads, 1 or tokens, 2, longest]: query i and key j of a sequence add [h,
/// i's token, s, d] of the first with j - i = d + (s - 1) · longest, and [h, j's token, s, d] of the second with i - j
/// = d + (s - 1) · longest, as the bias after the cap (arXiv:2006.03654); scores of keys for one token are those of
/// all. Heads are grouped: query head h reads key/value head h / (heads / kv_heads). A query without visible keys gives
/// zeros, and so does a token of no sequence. `longest` is an upper bound of the lengths. See operands.h for operands
/// by name.
/// paged_attention: query [tokens, heads, width], key and value [pages, rows of a page, kv_heads, …] of a dtype of
/// their own (f16, bf16, f32 or the query's), table i32 [sequences, most pages], starts, lengths and key lengths i32
/// [sequences], then sinks [heads] if the flag says so, and with has_cache_scales, of key and value in i8, the scales
/// of both, f32 [pages, rows of a page, kv_heads, 1]: a number is its integer times the scale of its row and head. Key
/// i of a sequence is row i % rows of page table[i / rows], for i below its key length; its queries are the last ones
/// of these tokens: query j is at key length - length + j. A sequence without queries has no pages that are read.
/// Backends with a kernel throw where a page that is read is not in the cache, or key lengths are below the lengths or
/// above what the table holds; others read some page of the cache, or compute with the keys that there are. Rows of a
/// page divide kMostPageRows. Of the other fields, has_lengths, has_bias and rounds_operands must be false.
inline constexpr std::int64_t kMostPageRows = 128;  // a multiple of the rows of every page
struct Attention {
  double scale = 1;
  bool has_lengths = false, has_bias = false, has_sinks = false;
  bool causal = false;            // the query at position i sees keys at positions <= i
  std::int64_t window_left = -1;  // the query at i sees keys at i - window_left … i + window_right; -1: no limit
  std::int64_t window_right = -1;
  double soft_cap = 0;  // scores become soft_cap · tanh(score / soft_cap) before bias and mask; 0: no cap
  // Products may round their operands: to 12 bits or more of the largest, or to bf16 if the result ends up with 8 bits.
  bool rounds_operands = false;
  // Only of ragged_attention.
  bool has_query_distances = false, has_key_distances = false;
  bool has_cache_scales = false;  // only of paged_attention
  Dim longest = {};               // also of paged_attention
  static constexpr auto fields() {
    return std::tuple{Field{"scale", &Attention::scale},
                      Field{"has_lengths", &Attention::has_lengths},
                      Field{"has_bias", &Attention::has_bias},
                      Field{"has_sinks", &Attention::has_sinks},
                      Field{"causal", &Attention::causal},
                      Field{"window_left", &Attention::window_left},
                      Field{"window_right", &Attention::window_right},
                      Field{"soft_cap", &Attention::soft_cap},
                      Field{"rounds_operands", &Attention::rounds_operands, Presence::unless_default},
                      Field{"has_query_distances", &Attention::has_query_distances, Presence::unless_default},
                      Field{"has_key_distances", &Attention::has_key_distances, Presence::unless_default},
                      Field{"has_cache_scales", &Attention::has_cache_scales, Presence::unless_default},
                      Field{"longest", &Attention::longest, Presence::unless_default}};
  }
  bool operator==(const Attention&) const = default;
};
/// Operands: x [tokens, width], starts and lengths i32 [sequences]. `longest` is an upper bound of the lengths.
struct Pool {
  PoolMode mode = PoolMode::mean;
  Dim longest;
  static constexpr auto fields() { return std::tuple{Field{"mode", &Pool::mode}, Field{"longest", &Pool::longest}}; }
  bool operator==(const Pool&) const = default;
};

/// https://openxla.org/stablehlo/spec#convolution, without reversal of the kernel. Operands: x and kernel. The first
/// five lists have an entry for each spatial axis; empty strides and dilations mean all 1, empty padding all 0;
/// negative padding crops. The other fields assign the axes: *_spatial lists spatial axes in one order for all three.
struct Convolution {
  Numbers strides = {};
  Numbers padding_low = {};
  Numbers padding_high = {};
  Numbers lhs_dilation = {};
  Numbers rhs_dilation = {};
  std::int64_t input_batch = 0;
  std::int64_t input_feature = 1;
  Numbers input_spatial = {};
  std::int64_t kernel_input = 1;
  std::int64_t kernel_output = 0;
  Numbers kernel_spatial = {};
  std::int64_t output_batch = 0;
  std::int64_t output_feature = 1;
  Numbers output_spatial = {};
  std::int64_t feature_groups = 1;
  std::int64_t batch_groups = 1;
  static constexpr auto fields() {
    return std::tuple{Field{"strides", &Convolution::strides},
                      Field{"padding_low", &Convolution::padding_low},
                      Field{"padding_high", &Convolution::padding_high},
                      Field{"lhs_dilation", &Convolution::lhs_dilation},
                      Field{"rhs_dilation", &Convolution::rhs_dilation},
                      Field{"input_batch", &Convolution::input_batch},
                      Field{"input_feature", &Convolution::input_feature},
                      Field{"input_spatial", &Convolution::input_spatial},
                      Field{"kernel_input", &Convolution::kernel_input},
                      Field{"kernel_output", &Convolution::kernel_output},
                      Field{"kernel_spatial", &Convolution::kernel_spatial},
                      Field{"output_batch", &Convolution::output_batch},
                      Field{"output_feature", &Convolution::output_feature},
                      Field{"output_spatial", &Convolution::output_spatial},
                      Field{"feature_groups", &Convolution::feature_groups},
                      Field{"batch_groups", &Convolution::batch_groups}};
  }
  bool operator==(const Convolution&) const = default;
};
/// https://openxla.org/stablehlo/spec#reduce_window. Each list has an entry for each axis of the operand; only
/// window_dimensions may not be empty: strides and dilations are then all 1, padding is 0.
struct Window {
  Reduction reduction = Reduction::sum;
  Numbers window_dimensions = {};
  Numbers strides = {};
  Numbers base_dilations = {};
  Numbers window_dilations = {};
  Numbers padding_low = {};
  Numbers padding_high = {};
  static constexpr auto fields() {
    return std::tuple{Field{"reduction", &Window::reduction},
                      Field{"window_dimensions", &Window::window_dimensions},
                      Field{"strides", &Window::strides},
                      Field{"base_dilations", &Window::base_dilations},
                      Field{"window_dilations", &Window::window_dilations},
                      Field{"padding_low", &Window::padding_low},
                      Field{"padding_high", &Window::padding_high}};
  }
  bool operator==(const Window&) const = default;
};
/// https://openxla.org/stablehlo/spec#select_and_scatter, with ge or le as the selection, add as the scatter, and zero
/// as the initial value. Lists as in Window.
struct SelectWindow {
  Numbers window_dimensions = {};
  Numbers strides = {};
  Numbers padding_low = {};
  Numbers padding_high = {};
  static constexpr auto fields() {
    return std::tuple{Field{"window_dimensions", &SelectWindow::window_dimensions},
                      Field{"strides", &SelectWindow::strides}, Field{"padding_low", &SelectWindow::padding_low},
                      Field{"padding_high", &SelectWindow::padding_high}};
  }
  bool operator==(const SelectWindow&) const = default;
};
/// `lengths` are the extents of the transformed (last) axes: for rfft the operand's, for irfft the result's.
struct Fft {
  FftKind kind = FftKind::fft;
  Numbers lengths = {};
  static constexpr auto fields() { return std::tuple{Field{"kind", &Fft::kind}, Field{"lengths", &Fft::lengths}}; }
  bool operator==(const Fft&) const = default;
};
/// Operands: batch_norm_inference x, scale, shift, mean, variance; batch_norm_training x, scale, shift;
/// batch_norm_gradient x, scale, mean, variance and the gradient of the result. All but x and the result's gradient
/// have one element for each index along `axis`. Variances divide by the count.
struct BatchNorm {
  double epsilon = 1e-5;
  std::int64_t axis = 1;
  static constexpr auto fields() {
    return std::tuple{Field{"epsilon", &BatchNorm::epsilon}, Field{"axis", &BatchNorm::axis}};
  }
  bool operator==(const BatchNorm&) const = default;
};
/// Operand: the state, u64 [2] (key, counter), or [3] for philox (key and a 128-bit counter, low half first).
struct RngBitGenerator {
  RngAlgorithm algorithm = RngAlgorithm::threefry;
  DType dtype = DType::u32;
  Dims dims = {};
  static constexpr auto fields() {
    return std::tuple{Field{"algorithm", &RngBitGenerator::algorithm}, Field{"dtype", &RngBitGenerator::dtype},
                      Field{"dims", &RngBitGenerator::dims}};
  }
  bool operator==(const RngBitGenerator&) const = default;
};
/// Operands: stored data, then scales and zero points as the encoding requires; see tensor/encoding.h. dtype is the
/// result's. quantized_embedding takes indices before them.
struct Dequantize {
  tensor::EncodingKind encoding = tensor::EncodingKind::linear;
  Numbers blocks = {};
  bool has_zero_points = false;
  DType dtype = DType::f32;
  static constexpr auto fields() {
    return std::tuple{Field{"encoding", &Dequantize::encoding}, Field{"blocks", &Dequantize::blocks},
                      Field{"has_zero_points", &Dequantize::has_zero_points}, Field{"dtype", &Dequantize::dtype}};
  }
  bool operator==(const Dequantize&) const = default;
};
/// Operands: x [..., in], smoothing [in] if flagged, stored data of the weight [out, in], its scales and zero points as
/// the encoding requires, then bias [out] and residual [..., out] if flagged. The weight is multiplied with x ·
/// smoothing, channel by channel (Xiao et al. 2022, "SmoothQuant"). With a rotation n > 1, a power of two, each block
/// of n consecutive values of x · smoothing is first multiplied by the unnormalized Walsh-Hadamard matrix: value i
/// becomes the sum of (-1)^popcount(i & j) times value j (Ashkboos et al. 2024, "QuaRot"). With activation_groups r > 0
/// the activations are then quantized to 8 bits: each row has r groups of in / r values, and each value is rounded to
/// the nearest of 256 levels equally spaced from the group's minimum to its maximum (ties to even), or, where they are
/// symmetric, to the nearest multiple of a 127th of the group's largest magnitude. Activation and residual are as in
/// dense.
struct QuantizedDense {
  /// Number of steps from a group's minimum to its maximum, or from 0 to its largest magnitude; the least step.
  static constexpr double kGroupSteps = 255, kSymmetricSteps = 127, kMinGroupStep = 1e-20;

  tensor::EncodingKind encoding = tensor::EncodingKind::linear;
  Numbers blocks = {};
  bool has_zero_points = false;
  bool has_bias = false;
  bool has_smoothing = false;
  std::int64_t activation_groups = 0;
  bool has_residual = false;
  Activation activation = Activation::none;
  std::int64_t rotation = 0;  // 0 and 1: none
  bool has_symmetric_groups = false;
  static constexpr auto fields() {
    return std::tuple{
        Field{"encoding", &QuantizedDense::encoding},
        Field{"blocks", &QuantizedDense::blocks},
        Field{"has_zero_points", &QuantizedDense::has_zero_points},
        Field{"has_bias", &QuantizedDense::has_bias},
        Field{"has_smoothing", &QuantizedDense::has_smoothing},
        Field{"activation_groups", &QuantizedDense::activation_groups, Presence::always, "activation_runs"},
        Field{"has_residual", &QuantizedDense::has_residual},
        Field{"activation", &QuantizedDense::activation},
        Field{"rotation", &QuantizedDense::rotation, Presence::unless_default},
        Field{"has_symmetric_groups", &QuantizedDense::has_symmetric_groups, Presence::unless_default}};
  }
  bool operator==(const QuantizedDense&) const = default;
};
/// Operands: x [batch, ...], scale and shift [channels]; channels lie along `axis`, in `groups` groups of equal size.
/// Wu and He 2018, "Group Normalization".
struct GroupNorm {
  std::int64_t groups = 1;
  double epsilon = 1e-5;
  std::int64_t axis = 1;
  static constexpr auto fields() {
    return std::tuple{Field{"groups", &GroupNorm::groups}, Field{"epsilon", &GroupNorm::epsilon},
                      Field{"axis", &GroupNorm::axis}};
  }
  bool operator==(const GroupNorm&) const = default;
};
/// Operands: x [..., heads, width]; with has_positions, positions (integers [...], as x's leading axes) and tables of
/// cosines and sines [positions, rotary width / 2], indexed by positions (clamped to the table); without, cosines and
/// sines [..., rotary width / 2] of each token. Tables are of x's dtype or f32. The first rotary width values of a head
/// are rotated, the rest stay: pair i is (2i, 2i + 1) when interleaved, else (i, i + rotary width / 2). Su et al. 2021,
/// "RoFormer".
struct Rope {
  bool has_positions = true;
  bool interleaved = false;
  static constexpr auto fields() {
    return std::tuple{Field{"has_positions", &Rope::has_positions}, Field{"interleaved", &Rope::interleaved}};
  }
  bool operator==(const Rope&) const = default;
};

/// One of the structs above.
using AnyAttributes =
    std::variant<NoAttributes, Index, Convert, Iota, Reshape, Permutation, BroadcastInDim, Axis, Axes, Slice, Gather,
                 DotGeneral, Gelu, Norm, Dense, Attention, Pool, Pad, DynamicSlice, Scatter, ArgMinMax, Cumulative,
                 TopK, Sort, AllReduce, AllGather, AllToAll, ReduceScatter, CollectivePermute, CollectiveBroadcast,
                 Convolution, Window, SelectWindow, Fft, BatchNorm, RngBitGenerator, Dequantize, QuantizedDense,
                 GroupNorm, Rope>;

/// The attributes of a node: a variant whose special members are compiled once, not in every file that copies a node.
/// std::get, std::visit and the like take it as the variant.
class Attributes : public AnyAttributes {
 public:
  Attributes();  // NoAttributes
  /// `Struct` is one of the variant's.
  template <typename Struct>
    requires(!std::is_base_of_v<AnyAttributes, Struct>)
  Attributes(Struct attributes);  // NOLINT(google-explicit-constructor): as std::variant's
  Attributes(const Attributes& other);
  Attributes(Attributes&& other) noexcept;
  Attributes& operator=(const Attributes& other);
  Attributes& operator=(Attributes&& other) noexcept;
  ~Attributes();

  bool operator==(const Attributes& other) const;
};

}  // namespace alate::graph
