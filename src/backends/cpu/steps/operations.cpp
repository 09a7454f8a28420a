#include "backends/cpu/steps/operations.h"

#include <algorithm>
#include <iterator>

#include "alate/error.h"
#include "backends/cpu/steps/carriers.h"
#include "backends/cpu/steps/embedding_sum.h"
#include "backends/cpu/steps/steps.h"
#include "backends/cpu/steps/tiles/tile_program.h"
#include "backends/cpu/steps/work.h"
#include "graph/operands.h"

namespace alate::cpu {
namespace {

using graph::Op;
using graph::set_of;

constexpr graph::DTypeSet kF32 = set_of(DType::f32);
constexpr graph::DTypeSet kUpToF32 = kF32 | set_of(DType::f16) | set_of(DType::bf16);
constexpr graph::DTypeSet kPacked = set_of(DType::i1) | set_of(DType::u1) | set_of(DType::i2) | set_of(DType::u2) |
                                    set_of(DType::i4) | set_of(DType::u4) | set_of(DType::f4e2m1fn);
constexpr graph::DTypeSet kWholeBytes = graph::kAny & ~kPacked;

using CountWork = backends::Work (*)(const Step&, const Frame&);

constexpr Operation row(Op op, graph::DTypeSet dtypes, std::string_view spelling,
                        void (*run)(const Step&, const Frame&)) {
  return {.op = op, .dtypes = dtypes, .spelling = spelling, .run = run};
}

// f32, and halves widened to f32.
constexpr Operation widening(Op op, std::string_view spelling, void (*run)(const Step&, const Frame&), CountWork work) {
  return {
      .op = op, .dtypes = kUpToF32, .spelling = spelling, .run = run, .scratch = widened_halves_scratch, .work = work};
}

bool is_over_last_axis(const graph::Graph& /*graph*/, const graph::Node& node) {
  return std::get<graph::Axis>(node.attributes).axis + 1 == static_cast<std::int64_t>(node.results[0].rank());
}

// Loops over positions support this many axes.
bool has_few_axes(const graph::Graph& /*graph*/, const graph::Node& node) { return node.results[0].rank() <= 16; }

bool transforms_axes(const graph::Graph& /*graph*/, const graph::Node& node) {
  return !std::get<graph::Fft>(node.attributes).lengths.empty();
}

bool has_constant_weight(const graph::Graph& graph, const graph::Node& node) {
  const graph::Value weight = graph::DenseOperands<>::of(node).weight;
  return graph.node(weight.node).op == Op::constant && graph.shape(weight).dtype == DType::f32;
}

// Rows of a matrix may be strided; values of more axes are treated as consecutive rows.
bool is_matrix(const graph::Graph& /*graph*/, const graph::Node& node) { return node.results[0].rank() == 2; }
bool is_matrix_by_weight(const graph::Graph& graph, const graph::Node& node) {
  return is_matrix(graph, node) && has_constant_weight(graph, node);
}
bool is_matrix_by_half_weight(const graph::Graph& graph, const graph::Node& node) {
  return is_matrix(graph, node) && has_half_weight(graph, node);
}

// Ops that move, select and sort elements: any dtype, packed ones through carriers.
template <RunStep kRun, StepScratch kScratch = nullptr>
constexpr Operation moving(Op op, std::string_view spelling, CountWork work = nullptr) {
  return {.op = op,
          .dtypes = graph::kAny,
          .spelling = spelling,
          .run = run_unpacked<kRun, kScratch>,
          .scratch = unpacked_scratch<kScratch>,
          .work = work};
}

// Ops that overwrite some elements.
template <RunStep kRun, StepScratch kScratch = nullptr>
constexpr Operation updating(Op op, std::string_view spelling, CountWork work) {
  Operation operation = moving<kRun, kScratch>(op, spelling, work);
  operation.may_run_in_place = true;
  return operation;
}

constexpr Operation kMoves[] = {
    row(Op::reshape, graph::kAny, "view", run_copy),  // never a step: the planner makes views
    row(Op::identity, graph::kAny, "view", run_copy),
    row(Op::bitcast, graph::kAny, "view", run_copy),
    row(Op::optimization_barrier, graph::kAny, "view", run_copy),
    row(Op::scheduling_barrier, graph::kAny, "view", run_copy),
    row(Op::all_reduce, graph::kAny, "view", run_copy),
    row(Op::all_gather, graph::kAny, "view", run_copy),
    row(Op::all_to_all, graph::kAny, "view", run_copy),
    row(Op::reduce_scatter, graph::kAny, "view", run_copy),
    row(Op::collective_broadcast, graph::kAny, "view", run_copy),
    row(Op::collective_permute, graph::kAny, "zeros", run_zeros),  // a view where a device sends
    row(Op::replica_id, graph::kAny, "zeros", run_zeros),
    row(Op::partition_id, graph::kAny, "zeros", run_zeros),
    row(Op::dynamic_reshape, graph::kAny, "check_extents", run_check_extents),  // and a view
    moving<run_iota, iota_scratch>(Op::iota, "iota"),
    moving<run_transpose>(Op::transpose, "copy_strided"),
    moving<run_broadcast>(Op::broadcast_in_dim, "copy_strided"),
    moving<run_concatenate>(Op::concatenate, "concatenate"),
    moving<run_slice>(Op::slice, "copy_strided", slice_work),
    moving<run_pad>(Op::pad, "pad"),
    moving<run_reverse>(Op::reverse, "copy_strided"),
    moving<run_dynamic_slice>(Op::dynamic_slice, "copy_strided", slice_work),
    updating<run_dynamic_update_slice>(Op::dynamic_update_slice, "update_slice", update_slice_work),
    row(Op::dimension_size, graph::kAny, "extent", run_dimension_size),
    moving<run_gather, gather_scratch>(Op::gather, "gather", gather_work),
    updating<run_scatter, scatter_scratch>(Op::scatter_set, "scatter", scatter_work),
    updating<run_scatter, scatter_scratch>(Op::scatter_sum, "scatter", scatter_work),
    updating<run_scatter, scatter_scratch>(Op::scatter_max, "scatter", scatter_work),
    updating<run_scatter, scatter_scratch>(Op::scatter_min, "scatter", scatter_work),
    moving<run_cumulative, widened_scratch>(Op::cumulative_sum, "cumulative"),
    moving<run_cumulative, widened_scratch>(Op::cumulative_product, "cumulative"),
    moving<run_cumulative, widened_scratch>(Op::cumulative_max, "cumulative"),
    moving<run_cumulative, widened_scratch>(Op::cumulative_min, "cumulative"),
    moving<run_arg_min_max, widened_scratch>(Op::arg_min_max, "arg_extreme"),
    {.op = Op::sort,
     .dtypes = graph::kAny,
     .spelling = "sort",
     .run = run_unpacked<run_sort, sort_scratch>,
     .scratch = unpacked_scratch<sort_scratch>,
     .fits = has_known_order,
     .reads_graphs = true},
    moving<run_sort_by_region, sort_by_region_scratch>(Op::sort, "sort_by_region"),
    moving<run_top_k, top_k_scratch>(Op::top_k, "top_k"),
    {.op = Op::reduce,
     .dtypes = graph::kAny,
     .spelling = "reduce",
     .run = run_unpacked<run_known_reduce, known_reduce_scratch>,
     .scratch = unpacked_scratch<known_reduce_scratch>,
     .fits = has_known_reduction,
     .reads_graphs = true},
    moving<run_region_reduce, region_reduce_scratch>(Op::reduce, "reduce_by_region"),
    {.op = Op::call,
     .dtypes = graph::kAny,
     .spelling = "call",
     .run = run_call,
     .scratch = run_once_scratch,
     .work = no_work},
};

// Products of 8-bit activations with an 8-bit weight, which is operand `weight`.
constexpr Operation integer_product(int weight, bool (*fits)(const graph::Graph&, const graph::Node&)) {
  return {.op = Op::quantized_dense,
          .dtypes = kF32,
          .spelling = "integer_gemm",
          .run = run_integer_product,
          .packed_operand = weight,
          .pack = pack_integers,
          .packed_bytes = packed_integers_bytes,
          .packed_scales = weight + 1,
          .pack_scales = pack_group_scales,
          .layout = integers_layout,
          .scratch = integer_product_scratch,
          .fits = fits,
          .stores_blocks = true,
          .work = integer_product_work};
}

// Products of f32 with a constant weight of bf16 or f16.
constexpr Operation half_product(std::uint32_t strided_operands,
                                 bool (*fits)(const graph::Graph&, const graph::Node&)) {
  return {.op = Op::dense,
          .dtypes = kF32,
          .spelling = "half_gemm",
          .run = run_half_dense,
          .strided_operands = strided_operands,
          .packed_operand = 1,
          .pack = pack_half_dense,
          .packed_bytes = packed_half_dense_bytes,
          .scratch = half_dense_scratch,
          .fits = fits,
          .stores_blocks = true,
          .rounds_result = true,
          .work = half_dense_work};
}

constexpr Operation kKernels[] = {
    {.op = Op::dot_general,
     .dtypes = graph::kAll,
     .spelling = "dot_general",
     .run = run_dot_general,
     .scratch = dot_general_scratch,
     .work = dot_general_work},
    {.op = Op::softmax,
     .dtypes = kUpToF32,
     .spelling = "softmax",
     .run = run_softmax,
     .scratch = widened_halves_scratch,
     .fits = is_over_last_axis,
     .work = softmax_work},
    {.op = Op::log_softmax,
     .dtypes = kUpToF32,
     .spelling = "log_softmax",
     .run = run_softmax,
     .scratch = widened_halves_scratch,
     .fits = is_over_last_axis,
     .work = softmax_work},
    {.op = Op::while_loop,
     .dtypes = graph::kAny,
     .spelling = "while",
     .run = run_while_loop,
     .scratch = while_loop_scratch,
     .work = no_work},
    {.op = Op::if_else,
     .dtypes = graph::kAny,
     .spelling = "if",
     .run = run_if_else,
     .scratch = run_once_scratch,
     .work = no_work},
    {.op = Op::layer_norm,
     .dtypes = kF32,
     .spelling = "layer_norm",
     .run = run_layer_norm,
     .strided_operands = 1,
     .fits = is_matrix,
     .rounds_result = true,
     .work = layer_norm_work},
    widening(Op::layer_norm, "layer_norm", run_layer_norm, layer_norm_work),
    {.op = Op::rms_norm,
     .dtypes = kF32,
     .spelling = "rms_norm",
     .run = run_rms_norm,
     .strided_operands = 1,
     .fits = is_matrix,
     .rounds_result = true,
     .work = rms_norm_work},
    widening(Op::rms_norm, "rms_norm", run_rms_norm, rms_norm_work),
    widening(Op::normalize, "normalize", run_normalize, normalize_work),
    {.op = Op::dense,
     .dtypes = kF32,
     .spelling = "gemm",
     .run = run_dense,
     .strided_operands = 1,
     .packed_operand = 1,
     .pack = pack_dense,
     .packed_bytes = packed_dense_bytes,
     .fits = is_matrix_by_weight,
     .stores_blocks = true,
     .work = dense_work},
    {.op = Op::dense,
     .dtypes = kF32,
     .spelling = "gemm",
     .run = run_dense,
     .packed_operand = 1,
     .pack = pack_dense,
     .packed_bytes = packed_dense_bytes,
     .fits = has_constant_weight,
     .work = dense_work},
    half_product(1, is_matrix_by_half_weight),
    half_product(0, has_half_weight),
    widening(Op::attention, "attention", run_attention, attention_work),
    {.op = Op::rope,
     .dtypes = kF32,
     .spelling = "rope",
     .run = run_rope,
     .strided_operands = 1,
     .scratch = widened_halves_scratch,
     .fits = fits_rope_of_rows},
    {.op = Op::rope,
     .dtypes = kUpToF32,
     .spelling = "rope",
     .run = run_rope,
     .scratch = widened_halves_scratch,
     .fits = fits_rope},
    {.op = Op::ragged_attention,
     .dtypes = kF32,
     .spelling = "ragged_attention",
     .run = run_ragged_attention,
     .strided_operands = 7,
     .rounds_result = true,
     .work = ragged_attention_work},
    widening(Op::ragged_attention, "ragged_attention", run_ragged_attention, ragged_attention_work),
    {.op = Op::paged_attention,
     .dtypes = kUpToF32,
     .spelling = "paged_attention",
     .run = run_paged_attention,
     .scratch = paged_attention_scratch,
     .work = paged_attention_work},
    widening(Op::ragged_pool, "pool", run_pool, pool_work),
    {.op = Op::conv_general,
     .dtypes = kUpToF32,
     .spelling = "conv_output_first",
     .run = run_convolution,
     .packed_operand = 1,
     .pack = pack_output_first,
     .packed_bytes = packed_output_first_bytes,
     .scratch = convolution_scratch,
     .fits = fits_packed_output_first,
     .work = convolution_work},
    {.op = Op::conv_general,
     .dtypes = kUpToF32,
     .spelling = "conv_output_last",
     .run = run_convolution,
     .packed_operand = 1,
     .pack = pack_output_last,
     .packed_bytes = packed_output_last_bytes,
     .scratch = convolution_scratch,
     .fits = fits_packed_output_last,
     .work = convolution_work},
    {.op = Op::conv_general,
     .dtypes = kUpToF32,
     .spelling = "conv_depthwise",
     .run = run_convolution,
     .packed_operand = 1,
     .pack = pack_depthwise,
     .packed_bytes = packed_depthwise_bytes,
     .scratch = convolution_scratch,
     .fits = fits_packed_depthwise,
     .work = convolution_work},
    {.op = Op::conv_general,
     .dtypes = graph::kNumbers | graph::kComplex,
     .spelling = "conv",
     .run = run_convolution,
     .scratch = convolution_scratch,
     .fits = fits_convolution,
     .work = convolution_work},
    {.op = Op::reduce_window,
     .dtypes = graph::kNumbers | graph::kComplex,
     .spelling = "reduce_window",
     .run = run_reduce_window,
     .scratch = reduce_window_scratch},
    {.op = Op::select_and_scatter_max,
     .dtypes = graph::kNumbers,
     .spelling = "select_and_scatter",
     .run = run_select_and_scatter,
     .scratch = select_and_scatter_scratch,
     .fits = has_few_axes},
    {.op = Op::select_and_scatter_min,
     .dtypes = graph::kNumbers,
     .spelling = "select_and_scatter",
     .run = run_select_and_scatter,
     .scratch = select_and_scatter_scratch,
     .fits = has_few_axes},
    {.op = Op::fft,
     .dtypes = graph::kComplex | graph::kComponents,
     .spelling = "fft",
     .run = run_fft,
     .scratch = fft_scratch,
     .fits = transforms_axes},
    row(Op::batch_norm_inference, graph::kFloats, "batch_norm", run_batch_norm_inference),
    row(Op::batch_norm_training, graph::kFloats, "batch_norm_training", run_batch_norm_training),
    row(Op::batch_norm_gradient, graph::kFloats, "batch_norm_gradient", run_batch_norm_gradient),
    {.op = Op::dequantize,
     .dtypes = graph::kAny,
     .spelling = "dequantize",
     .run = run_dequantize,
     .fits = has_few_scaled_axes},
    integer_product(1, fits_integer_product),
    integer_product(2, fits_smoothed_integer_product),
    {.op = Op::quantized_dense,
     .dtypes = graph::kFloats,
     .spelling = "quantized_gemm",
     .run = run_quantized_dense,
     .scratch = quantized_dense_scratch,
     .fits = takes_plain_activations,
     .work = quantized_dense_work},
    {.op = Op::quantized_embedding,
     .dtypes = graph::kInts,
     .spelling = "quantized_rows",
     .run = run_quantized_embedding,
     .work = quantized_embedding_work},
    row(Op::rng_bit_generator, set_of(DType::u64), "random_bits", run_rng_bit_generator),
};

// Adds the element-wise ops that have tile instructions, tried with every dtype.
void add_tile_rows(std::vector<Operation>& table) {
  for (const graph::OpInfo& info : graph::all_ops()) {
    if (!info.has(graph::kElementwise)) continue;
    graph::DTypeSet dtypes = 0;
    for (const DType dtype : all_dtypes()) {
      if (graph::contains(info.dtypes, dtype) && has_tile_instruction(info.op, dtype)) dtypes |= set_of(dtype);
    }
    if (dtypes != 0)
      table.push_back(
          {.op = info.op, .dtypes = dtypes, .spelling = "tiles", .run = run_tiles, .scratch = tiles_scratch});
  }
}

void add_reductions(std::vector<Operation>& table) {
  for (const graph::OpInfo& info : graph::all_ops()) {
    graph::DTypeSet dtypes = 0;
    for (const DType dtype : all_dtypes()) {
      if (graph::contains(info.dtypes, dtype) && has_reduction(info.op, dtype)) dtypes |= set_of(dtype);
    }
    if (dtypes != 0)
      table.push_back(
          {.op = info.op, .dtypes = dtypes, .spelling = "reduce", .run = run_reduce, .scratch = reduce_scratch});
  }
}

// Adds the remaining ops, run by the reference interpreter.
void add_interpreted_rows(std::vector<Operation>& table) {
  for (const graph::OpInfo& info : graph::all_ops()) {
    if (info.kind != graph::OpKind::standard && info.kind != graph::OpKind::region) continue;
    table.push_back({.op = info.op,
                     .dtypes = graph::kAny,
                     .spelling = "interpreted",
                     .run = run_interpreted,
                     .reads_graphs = true});
  }
}

// If several rows fit a node, the first is used.
std::vector<Operation> make_table() {
  std::vector<Operation> table(std::begin(kKernels), std::end(kKernels));
  table.insert(table.end(), std::begin(kMoves), std::end(kMoves));
  add_tile_rows(table);
  add_reductions(table);
  add_interpreted_rows(table);
  return table;
}

const Operation* row_for(const graph::Graph& graph, const graph::Node& node) {
  const DType dtype = backends::asked_dtype(graph, node);
  const auto& table = operations();
  const auto found = std::find_if(table.begin(), table.end(), [&](const Operation& row) {
    return row.op == node.op && graph::contains(row.dtypes, dtype) && (row.fits == nullptr || row.fits(graph, node));
  });
  return found == table.end() ? nullptr : &*found;
}

constexpr Operation kCopy = {
    .op = Op::reshape, .dtypes = kWholeBytes, .spelling = "copy_rows", .run = run_copy, .strided_operands = 1};

// Stands for several nodes; its op is that of most of them.
constexpr Operation kEmbedNorm = {
    .op = Op::gather, .dtypes = kF32, .spelling = "embed_norm", .run = run_embed_norm, .work = embed_norm_work};

constexpr Operation kNormProduct = {.op = Op::quantized_dense,
                                    .dtypes = kF32,
                                    .spelling = "norm_integer_gemm",
                                    .run = run_norm_integer_product,
                                    .scratch = norm_integer_product_scratch,
                                    .work = norm_integer_product_work};

}  // namespace

std::span<const Operation> operations() {
  static const std::vector<Operation> table = make_table();
  return table;
}

const Operation& find_operation(const graph::Graph& graph, const graph::Node& node) {
  const Operation* row = row_for(graph, node);
  if (row == nullptr)
    throw make_error(ErrorCode::internal, "the planner was given ", graph::to_string(node.op), ", which has no kernel");
  return *row;
}

backends::Support supports(const graph::Graph& graph, const graph::Node& node) {
  if (const Operation* row = row_for(graph, node)) return {.native = true, .spelling = row->spelling, .reason = {}};
  return {.native = false,
          .spelling = {},
          .reason = "no native " + std::string(graph::to_string(node.op)) + " for this form and " +
                    std::string(alate::to_string(backends::asked_dtype(graph, node)))};
}

const Operation& copy_operation() { return kCopy; }

const Operation& embed_norm_operation() { return kEmbedNorm; }

const Operation& norm_product_operation() { return kNormProduct; }

}  // namespace alate::cpu
