#include "backends/cpu/steps/operations.h"

#include <algorithm>
#include <iterator>

#include "alate/error.h"
#include "backends/cpu/kernels/dispatch/dispatch.h"
#include "backends/cpu/kernels/gemm/half_product.h"
#include "backends/cpu/steps/carriers.h"
#include "backends/cpu/steps/embedding_sum.h"
#include "backends/cpu/steps/operand_places.h"
#include "backends/cpu/steps/row_operands.h"
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

constexpr Operation widening_norm(Op op, std::string_view spelling, void (*run)(const Step&, const Frame&),
                                  CountWork work, NormKind kind) {
  Operation operation = widening(op, spelling, run, work);
  operation.norm = kind;
  operation.row_operands = norm_rows;
  return operation;
}

bool is_over_last_axis(const graph::Graph& /*graph*/, const graph::Node& node) {
  return std::get<graph::Axis>(node.attributes).axis + 1 == static_cast<std::int64_t>(node.results[0].rank());
}

// Loops over positions support this many axes.
bool has_few_axes(const graph::Graph& /*graph*/, const graph::Node& node) { return node.results[0].rank() <= 16; }

bool transforms_axes(const graph::Graph& /*graph*/, const graph::Node& node) {
  return !std::get<graph::Fft>(node.attributes).lengths.empty();
}

template <DType kWeight>
bool has_constant_weight(const graph::Graph& graph, const graph::Node& node) {
  const graph::Value weight = graph::DenseOperands<>::of(node).weight;
  return graph.node(weight.node).op == Op::constant && graph.shape(weight).dtype == kWeight;
}

// Rows of a matrix may be strided; values of more axes are treated as consecutive rows.
bool is_matrix(const graph::Graph& /*graph*/, const graph::Node& node) { return node.results[0].rank() == 2; }
template <DType kWeight>
bool is_matrix_by_weight(const graph::Graph& graph, const graph::Node& node) {
  return is_matrix(graph, node) && has_constant_weight<kWeight>(graph, node);
}

template <DType kWeight>
const GemmKernel& half_kernel() {
  return half_product_kernel(kWeight);
}
const GemmKernel& integer_kernel() { return kernels().integers; }

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

// The planner makes no steps of them.
constexpr Operation view(Op op, bool (*fits)(const graph::Graph&, const graph::Node&) = nullptr) {
  return {.op = op, .dtypes = graph::kAny, .spelling = "view", .run = run_copy, .fits = fits, .traits = kShowsOperands};
}

bool sends(const graph::Graph& /*graph*/, const graph::Node& node) {
  return !std::get<graph::CollectivePermute>(node.attributes).source_target_pairs.empty();
}

// Ops that overwrite some elements.
template <RunStep kRun, StepScratch kScratch = nullptr>
constexpr Operation updating(Op op, std::string_view spelling, CountWork work) {
  Operation operation = moving<kRun, kScratch>(op, spelling, work);
  operation.traits = kRunsInPlace;
  return operation;
}

constexpr Operation kMoves[] = {
    view(Op::reshape),
    view(Op::identity),
    view(Op::bitcast),
    view(Op::optimization_barrier),
    view(Op::scheduling_barrier),
    // A program runs on only one device.
    view(Op::all_reduce),
    view(Op::all_gather),
    view(Op::all_to_all),
    view(Op::reduce_scatter),
    view(Op::collective_broadcast),
    view(Op::collective_permute, sends),
    row(Op::collective_permute, graph::kAny, "zeros", run_zeros),
    row(Op::replica_id, graph::kAny, "zeros", run_zeros),
    row(Op::partition_id, graph::kAny, "zeros", run_zeros),
    {.op = Op::dynamic_reshape,
     .dtypes = graph::kAny,
     .spelling = "check_extents",
     .run = run_check_extents,
     .traits = kShowsOperands},
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
    {.op = Op::gather,
     .dtypes = graph::kAny,
     .spelling = "gather",
     .run = run_unpacked<run_gather, gather_scratch>,
     .scratch = unpacked_scratch<gather_scratch>,
     .row_operands = gathered_rows,
     .work = gather_work},
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
     .traits = kReadsGraphs},
    moving<run_sort_by_region, sort_by_region_scratch>(Op::sort, "sort_by_region"),
    moving<run_top_k, top_k_scratch>(Op::top_k, "top_k"),
    {.op = Op::reduce,
     .dtypes = graph::kAny,
     .spelling = "reduce",
     .run = run_unpacked<run_known_reduce, known_reduce_scratch>,
     .scratch = unpacked_scratch<known_reduce_scratch>,
     .fits = has_known_reduction,
     .traits = kReadsGraphs},
    moving<run_region_reduce, region_reduce_scratch>(Op::reduce, "reduce_by_region"),
    {.op = Op::call,
     .dtypes = graph::kAny,
     .spelling = "call",
     .run = run_call,
     .scratch = run_once_scratch,
     .work = no_work},
};

using DensePlaces = graph::DenseOperands<std::size_t>;
using QuantizedDensePlaces = graph::QuantizedDenseOperands<std::size_t>;
using RaggedPlaces = graph::RaggedAttentionOperands<std::size_t>;
using backends::WeightLayout;

constexpr PackedOperand kDenseWeight[] = {
    {place_of<&DensePlaces::weight>, WeightLayout::Role::elements, pack_dense, packed_dense_bytes}};
constexpr PackedOperand kHalfWeight[] = {
    {place_of<&DensePlaces::weight>, WeightLayout::Role::elements, pack_half_dense, packed_half_dense_bytes}};
constexpr PackedOperand kIntegerWeight[] = {{place_of<&QuantizedDensePlaces::stored>, WeightLayout::Role::elements,
                                             pack_integers, packed_integers_bytes, integers_layout},
                                            {place_of<&QuantizedDensePlaces::scales>, WeightLayout::Role::scales,
                                             pack_group_scales, packed_group_scales_bytes}};
constexpr PackedOperand kBlockWeight[] = {{place_of<&QuantizedDensePlaces::stored>, WeightLayout::Role::elements,
                                           pack_block_weight, packed_blocks_bytes, blocks_layout}};
constexpr PackedOperand kKernelOutputFirst[] = {
    {fixed_place<1>, WeightLayout::Role::elements, pack_output_first, packed_output_first_bytes}};
constexpr PackedOperand kKernelOutputLast[] = {
    {fixed_place<1>, WeightLayout::Role::elements, pack_output_last, packed_output_last_bytes}};
constexpr PackedOperand kDepthwiseKernel[] = {
    {fixed_place<1>, WeightLayout::Role::elements, pack_depthwise, packed_depthwise_bytes}};

constexpr OperandPlace kFirst = fixed_place<0>;
constexpr auto kDenseRows = row_operands_at<place_of<&DensePlaces::x>, place_of<&DensePlaces::residual>>;
constexpr auto kQuantizedDenseRows =
    row_operands_at<place_of<&QuantizedDensePlaces::x>, place_of<&QuantizedDensePlaces::residual>>;

// What products can make of their result, a kernel with bf16 words also bf16.
constexpr FormatSet kProductFormats = kRowMajor | kColumnBlocks | kQuantizedRows;

// Products of f32 with a constant weight of bf16 or f16. Only kernels with bf16 words read and write bf16.
template <DType kWeight>
constexpr Operation half_product(FormatSet reads(std::size_t, const graph::Attributes&),
                                 bool (*fits)(const graph::Graph&, const graph::Node&)) {
  return {.op = Op::dense,
          .dtypes = kF32,
          .spelling = "half_gemm",
          .run = run_half_dense,
          .reads = reads,
          .writes = kProductFormats | (kWeight == DType::bf16 ? FormatSet{kBf16Rows} : FormatSet{0}),
          .packed = kHalfWeight,
          .kernel = half_kernel<kWeight>,
          .scratch = half_dense_scratch,
          .fits = fits,
          .row_operands = kDenseRows,
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
     .row_operands = row_operands_at<kFirst>,
     .work = softmax_work},
    {.op = Op::log_softmax,
     .dtypes = kUpToF32,
     .spelling = "log_softmax",
     .run = run_softmax,
     .scratch = widened_halves_scratch,
     .fits = is_over_last_axis,
     .row_operands = row_operands_at<kFirst>,
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
     .reads = formats_of<kStridedRows, kFirst>,
     .writes = kRowMajor | kBf16Rows,
     .norm = NormKind::layer,
     .fits = is_matrix,
     .row_operands = norm_rows,
     .work = layer_norm_work},
    widening_norm(Op::layer_norm, "layer_norm", run_layer_norm, layer_norm_work, NormKind::layer),
    {.op = Op::rms_norm,
     .dtypes = kF32,
     .spelling = "rms_norm",
     .run = run_rms_norm,
     .reads = formats_of<kStridedRows, kFirst>,
     .writes = kRowMajor | kBf16Rows,
     .norm = NormKind::rms,
     .fits = is_matrix,
     .row_operands = norm_rows,
     .work = rms_norm_work},
    widening_norm(Op::rms_norm, "rms_norm", run_rms_norm, rms_norm_work, NormKind::rms),
    widening_norm(Op::normalize, "normalize", run_normalize, normalize_work, NormKind::l2),
    {.op = Op::dense,
     .dtypes = kF32,
     .spelling = "gemm",
     .run = run_dense,
     .reads = formats_of<kStridedRows, place_of<&DensePlaces::x>>,
     .writes = kProductFormats,
     .packed = kDenseWeight,
     .kernel = f32_gemm,
     .fits = is_matrix_by_weight<DType::f32>,
     .row_operands = kDenseRows,
     .work = dense_work},
    {.op = Op::dense,
     .dtypes = kF32,
     .spelling = "gemm",
     .run = run_dense,
     .writes = kProductFormats,
     .packed = kDenseWeight,
     .kernel = f32_gemm,
     .fits = has_constant_weight<DType::f32>,
     .row_operands = kDenseRows,
     .work = dense_work},
    half_product<DType::bf16>(formats_of<kStridedRows | kBf16Rows, place_of<&DensePlaces::x>>,
                              is_matrix_by_weight<DType::bf16>),
    half_product<DType::bf16>(formats_of<kBf16Rows, place_of<&DensePlaces::x>>, has_constant_weight<DType::bf16>),
    half_product<DType::f16>(formats_of<kStridedRows, place_of<&DensePlaces::x>>, is_matrix_by_weight<DType::f16>),
    half_product<DType::f16>(nullptr, has_constant_weight<DType::f16>),
    widening(Op::attention, "attention", run_attention, attention_work),
    {.op = Op::rope,
     .dtypes = kF32,
     .spelling = "rope",
     .run = run_rope,
     .reads = formats_of<kStridedRows, place_of<&graph::RopeOperands<std::size_t>::x>>,
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
     .reads = formats_of<kStridedRows | kColumnBlocks, place_of<&RaggedPlaces::query>, place_of<&RaggedPlaces::key>,
                         place_of<&RaggedPlaces::value>>,
     .writes = kRowMajor | kBf16Rows,
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
     .packed = kKernelOutputFirst,
     .scratch = convolution_scratch,
     .fits = fits_packed_output_first,
     .work = convolution_work},
    {.op = Op::conv_general,
     .dtypes = kUpToF32,
     .spelling = "conv_output_last",
     .run = run_convolution,
     .packed = kKernelOutputLast,
     .scratch = convolution_scratch,
     .fits = fits_packed_output_last,
     .work = convolution_work},
    {.op = Op::conv_general,
     .dtypes = kUpToF32,
     .spelling = "conv_depthwise",
     .run = run_convolution,
     .packed = kDepthwiseKernel,
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
    {.op = Op::quantized_dense,
     .dtypes = kF32,
     .spelling = "integer_gemm",
     .run = run_integer_product,
     .reads = formats_of<kQuantizedRows, place_of<&QuantizedDensePlaces::x>>,
     .writes = kProductFormats,
     .packed = kIntegerWeight,
     .kernel = integer_kernel,
     .scratch = integer_product_scratch,
     .fits = fits_integer_product,
     .row_operands = kQuantizedDenseRows,
     .work = integer_product_work},
    {.op = Op::quantized_dense,
     .dtypes = kF32,
     .spelling = "block_gemm",
     .run = run_block_dense,
     .packed = kBlockWeight,
     .scratch = block_dense_scratch,
     .fits = fits_block_product,
     .work = block_dense_work},
    {.op = Op::quantized_dense,
     .dtypes = graph::kFloats,
     .spelling = "quantized_gemm",
     .run = run_quantized_dense,
     .scratch = quantized_dense_scratch,
     .fits = takes_plain_activations,
     .row_operands = kQuantizedDenseRows,
     .work = quantized_dense_work},
    {.op = Op::quantized_embedding,
     .dtypes = graph::kInts,
     .spelling = "quantized_rows",
     .run = run_quantized_embedding,
     .row_operands = row_operands_at<place_of<&graph::QuantizedEmbeddingOperands<std::size_t>::indices>>,
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
      table.push_back({.op = info.op,
                       .dtypes = dtypes,
                       .spelling = "tiles",
                       .run = run_tiles,
                       .scratch = tiles_scratch,
                       .row_operands = tiled_rows});
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
                     .traits = kReadsGraphs});
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

constexpr Operation kCopy = {.op = Op::reshape,
                             .dtypes = kWholeBytes,
                             .spelling = "copy_rows",
                             .run = run_copy,
                             .reads = formats_of<kStridedRows, kFirst>,
                             .row_operands = row_operands_at<kFirst>};

// Stands for several nodes; its op is that of most of them.
constexpr Operation kEmbedNorm = {.op = Op::gather,
                                  .dtypes = kF32,
                                  .spelling = "embed_norm",
                                  .run = run_embed_norm,
                                  .row_operands = embedding_rows,
                                  .work = embed_norm_work};

constexpr Operation kNormProduct = {.op = Op::quantized_dense,
                                    .dtypes = kF32,
                                    .spelling = "norm_integer_gemm",
                                    .run = run_norm_integer_product,
                                    .writes = kProductFormats,
                                    .kernel = integer_kernel,
                                    .scratch = norm_integer_product_scratch,
                                    .row_operands = joined_rows,
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
