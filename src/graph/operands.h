// Operands by name, of ops with optional ones. Only this file knows their order and which the attributes ask for.
//
//   DenseOperands<> of_node = DenseOperands<>::of(node);
//   const auto at = places_of<DenseOperands>(dense);  // at.bias: the bias's place among the operands, if there is one
//   b.dense(operands.list(), operands.flagged({.activation = Activation::relu}));
#pragma once

#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "graph/attributes.h"
#include "graph/graph.h"
#include "graph/named_operands.h"

namespace alate::graph {

// Every struct below has these members:
//   of(attributes, operands), of(node)  the operands by name; throws internal for another number of operands
//   list()                              the operands in order
//   flagged(attributes)                 the attributes, whose flags say which operands there are
// `Operand` is Value, a tensor, a slot of a plan, or, for places_of, a place among the operands.

template <typename Operand = Value>
struct DenseOperands {
  using Attributes = Dense;
  Operand x{}, weight{};
  std::optional<Operand> bias = {}, residual = {};

  static constexpr auto members() {
    return std::tuple{&DenseOperands::x, &DenseOperands::weight,
                      operand_lists::Optional{&DenseOperands::bias, &Dense::has_bias},
                      operand_lists::Optional{&DenseOperands::residual, &Dense::has_residual}};
  }
  static DenseOperands of(const Dense& attributes, std::span<const Operand> operands) {
    return operand_lists::named<DenseOperands>(attributes, operands);
  }
  static DenseOperands of(const Node& node) { return of(std::get<Dense>(node.attributes), node.operands); }
  std::vector<Operand> list() const { return operand_lists::listed<Operand>(*this); }
  Dense flagged(Dense attributes) const { return operand_lists::flagged(*this, attributes); }
};

/// Whether the encoding stores its scales in an operand, not in its blocks.
bool has_scale_operand(tensor::EncodingKind encoding);

/// The weight is `stored`, with its scales and zero points.
template <typename Operand = Value>
struct QuantizedDenseOperands {
  using Attributes = QuantizedDense;
  Operand x{};
  std::optional<Operand> smoothing = {};
  Operand stored{};
  std::optional<Operand> scales = {}, zero_points = {}, bias = {}, residual = {};

  static bool has_scales(const QuantizedDense& attributes) { return has_scale_operand(attributes.encoding); }
  static constexpr auto members() {
    return std::tuple{&QuantizedDenseOperands::x,
                      operand_lists::Optional{&QuantizedDenseOperands::smoothing, &QuantizedDense::has_smoothing},
                      &QuantizedDenseOperands::stored,
                      operand_lists::Optional{&QuantizedDenseOperands::scales, &QuantizedDenseOperands::has_scales},
                      operand_lists::Optional{&QuantizedDenseOperands::zero_points, &QuantizedDense::has_zero_points},
                      operand_lists::Optional{&QuantizedDenseOperands::bias, &QuantizedDense::has_bias},
                      operand_lists::Optional{&QuantizedDenseOperands::residual, &QuantizedDense::has_residual}};
  }
  static QuantizedDenseOperands of(const QuantizedDense& attributes, std::span<const Operand> operands) {
    return operand_lists::named<QuantizedDenseOperands>(attributes, operands);
  }
  static QuantizedDenseOperands of(const Node& node) {
    return of(std::get<QuantizedDense>(node.attributes), node.operands);
  }
  std::vector<Operand> list() const { return operand_lists::listed<Operand>(*this); }
  QuantizedDense flagged(QuantizedDense attributes) const {
    return operand_lists::flagged(*this, std::move(attributes));
  }
};

template <typename Operand = Value>
struct DequantizeOperands {
  using Attributes = Dequantize;
  Operand stored{};
  std::optional<Operand> scales = {}, zero_points = {};

  static bool has_scales(const Dequantize& attributes) { return has_scale_operand(attributes.encoding); }
  static constexpr auto members() {
    return std::tuple{&DequantizeOperands::stored,
                      operand_lists::Optional{&DequantizeOperands::scales, &DequantizeOperands::has_scales},
                      operand_lists::Optional{&DequantizeOperands::zero_points, &Dequantize::has_zero_points}};
  }
  static DequantizeOperands of(const Dequantize& attributes, std::span<const Operand> operands) {
    return operand_lists::named<DequantizeOperands>(attributes, operands);
  }
  static DequantizeOperands of(const Node& node) { return of(std::get<Dequantize>(node.attributes), node.operands); }
  std::vector<Operand> list() const { return operand_lists::listed<Operand>(*this); }
  Dequantize flagged(Dequantize attributes) const { return operand_lists::flagged(*this, std::move(attributes)); }
};

template <typename Operand = Value>
struct QuantizedEmbeddingOperands {
  using Attributes = Dequantize;
  Operand indices{}, stored{};
  std::optional<Operand> scales = {}, zero_points = {};

  static bool has_scales(const Dequantize& attributes) { return has_scale_operand(attributes.encoding); }
  static constexpr auto members() {
    return std::tuple{
        &QuantizedEmbeddingOperands::indices, &QuantizedEmbeddingOperands::stored,
        operand_lists::Optional{&QuantizedEmbeddingOperands::scales, &QuantizedEmbeddingOperands::has_scales},
        operand_lists::Optional{&QuantizedEmbeddingOperands::zero_points, &Dequantize::has_zero_points}};
  }
  static QuantizedEmbeddingOperands of(const Dequantize& attributes, std::span<const Operand> operands) {
    return operand_lists::named<QuantizedEmbeddingOperands>(attributes, operands);
  }
  static QuantizedEmbeddingOperands of(const Node& node) {
    return of(std::get<Dequantize>(node.attributes), node.operands);
  }
  std::vector<Operand> list() const { return operand_lists::listed<Operand>(*this); }
  Dequantize flagged(Dequantize attributes) const { return operand_lists::flagged(*this, std::move(attributes)); }
};

/// Of `attention`, over a padded batch.
template <typename Operand = Value>
struct AttentionOperands {
  using Attributes = Attention;
  Operand query{}, key{}, value{};
  std::optional<Operand> lengths = {}, bias = {}, sinks = {};

  static constexpr auto members() {
    return std::tuple{&AttentionOperands::query,
                      &AttentionOperands::key,
                      &AttentionOperands::value,
                      operand_lists::Optional{&AttentionOperands::lengths, &Attention::has_lengths},
                      operand_lists::Optional{&AttentionOperands::bias, &Attention::has_bias},
                      operand_lists::Optional{&AttentionOperands::sinks, &Attention::has_sinks}};
  }
  static AttentionOperands of(const Attention& attributes, std::span<const Operand> operands) {
    return operand_lists::named<AttentionOperands>(attributes, operands);
  }
  static AttentionOperands of(const Node& node) { return of(std::get<Attention>(node.attributes), node.operands); }
  std::vector<Operand> list() const { return operand_lists::listed<Operand>(*this); }
  Attention flagged(Attention attributes) const { return operand_lists::flagged(*this, attributes); }
};

/// Attention's, then the gradient of its result.
template <typename Operand = Value>
struct AttentionGradientOperands {
  using Attributes = Attention;
  AttentionOperands<Operand> attention = {};
  Operand gradient{};

  static AttentionGradientOperands of(const Attention& attributes, std::span<const Operand> operands) {
    if (operands.empty()) operand_lists::fail_operand_count();
    return {AttentionOperands<Operand>::of(attributes, operands.first(operands.size() - 1)), operands.back()};
  }
  static AttentionGradientOperands of(const Node& node) {
    return of(std::get<Attention>(node.attributes), node.operands);
  }
  std::vector<Operand> list() const {
    std::vector<Operand> list = attention.list();
    list.push_back(gradient);
    return list;
  }
  Attention flagged(Attention attributes) const { return attention.flagged(attributes); }
};

/// Of `ragged_attention`, over packed sequences.
template <typename Operand = Value>
struct RaggedAttentionOperands {
  using Attributes = Attention;
  Operand query{}, key{}, value{}, starts{}, lengths{};
  std::optional<Operand> key_lengths = {}, bias = {}, sinks = {}, query_distances = {}, key_distances = {};

  static constexpr auto members() {
    return std::tuple{
        &RaggedAttentionOperands::query,
        &RaggedAttentionOperands::key,
        &RaggedAttentionOperands::value,
        &RaggedAttentionOperands::starts,
        &RaggedAttentionOperands::lengths,
        operand_lists::Optional{&RaggedAttentionOperands::key_lengths, &Attention::has_lengths},
        operand_lists::Optional{&RaggedAttentionOperands::bias, &Attention::has_bias},
        operand_lists::Optional{&RaggedAttentionOperands::sinks, &Attention::has_sinks},
        operand_lists::Optional{&RaggedAttentionOperands::query_distances, &Attention::has_query_distances},
        operand_lists::Optional{&RaggedAttentionOperands::key_distances, &Attention::has_key_distances}};
  }
  static RaggedAttentionOperands of(const Attention& attributes, std::span<const Operand> operands) {
    return operand_lists::named<RaggedAttentionOperands>(attributes, operands);
  }
  static RaggedAttentionOperands of(const Node& node) {
    return of(std::get<Attention>(node.attributes), node.operands);
  }
  std::vector<Operand> list() const { return operand_lists::listed<Operand>(*this); }
  Attention flagged(Attention attributes) const { return operand_lists::flagged(*this, attributes); }
};

template <typename Operand = Value>
struct WritePagesOperands {
  using Attributes = NoAttributes;
  Operand cache{}, rows{}, slots{};

  static constexpr auto members() {
    return std::tuple{&WritePagesOperands::cache, &WritePagesOperands::rows, &WritePagesOperands::slots};
  }
  static WritePagesOperands of(const NoAttributes& attributes, std::span<const Operand> operands) {
    return operand_lists::named<WritePagesOperands>(attributes, operands);
  }
  static WritePagesOperands of(const Node& node) { return of(std::get<NoAttributes>(node.attributes), node.operands); }
  std::vector<Operand> list() const { return operand_lists::listed<Operand>(*this); }
  NoAttributes flagged(NoAttributes attributes) const { return operand_lists::flagged(*this, attributes); }
};

/// Of `paged_attention`, over packed sequences and pages of a cache.
template <typename Operand = Value>
struct PagedAttentionOperands {
  using Attributes = Attention;
  Operand query{}, key{}, value{}, table{}, starts{}, lengths{}, key_lengths{};
  std::optional<Operand> sinks = {}, key_scales = {}, value_scales = {};

  static constexpr auto members() {
    return std::tuple{&PagedAttentionOperands::query,
                      &PagedAttentionOperands::key,
                      &PagedAttentionOperands::value,
                      &PagedAttentionOperands::table,
                      &PagedAttentionOperands::starts,
                      &PagedAttentionOperands::lengths,
                      &PagedAttentionOperands::key_lengths,
                      operand_lists::Optional{&PagedAttentionOperands::sinks, &Attention::has_sinks},
                      operand_lists::Optional{&PagedAttentionOperands::key_scales, &Attention::has_cache_scales},
                      operand_lists::Optional{&PagedAttentionOperands::value_scales, &Attention::has_cache_scales}};
  }
  static PagedAttentionOperands of(const Attention& attributes, std::span<const Operand> operands) {
    return operand_lists::named<PagedAttentionOperands>(attributes, operands);
  }
  static PagedAttentionOperands of(const Node& node) { return of(std::get<Attention>(node.attributes), node.operands); }
  std::vector<Operand> list() const { return operand_lists::listed<Operand>(*this); }
  Attention flagged(Attention attributes) const { return operand_lists::flagged(*this, attributes); }
};

template <typename Operand = Value>
struct RopeOperands {
  using Attributes = Rope;
  Operand x{};
  std::optional<Operand> positions = {};
  Operand cosines{}, sines{};

  static constexpr auto members() {
    return std::tuple{&RopeOperands::x, operand_lists::Optional{&RopeOperands::positions, &Rope::has_positions},
                      &RopeOperands::cosines, &RopeOperands::sines};
  }
  static RopeOperands of(const Rope& attributes, std::span<const Operand> operands) {
    return operand_lists::named<RopeOperands>(attributes, operands);
  }
  static RopeOperands of(const Node& node) { return of(std::get<Rope>(node.attributes), node.operands); }
  std::vector<Operand> list() const { return operand_lists::listed<Operand>(*this); }
  Rope flagged(Rope attributes) const { return operand_lists::flagged(*this, attributes); }
};

}  // namespace alate::graph
