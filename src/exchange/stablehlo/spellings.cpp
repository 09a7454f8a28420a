// The spelling table: ops that it lacks are decomposed or rejected.
#include <algorithm>
#include <iterator>

#include "exchange/stablehlo/rules.h"

namespace alate::exchange {
namespace {

using graph::Op;

constexpr HloSpelling kSpellings[] = {
    // Element-wise: one operand.
    {Op::identity, "itself", write_identity},
    {Op::abs, "abs", write_abs},
    {Op::neg, "negate"},
    {Op::sign, "sign", write_sign},
    {Op::exp, "exponential", write_function},
    {Op::expm1, "exponential_minus_one", write_function},
    {Op::log, "log", write_function},
    {Op::log1p, "log_plus_one", write_log1p},
    {Op::logistic, "logistic", write_function},
    {Op::tanh, "tanh", write_function},
    {Op::sin, "sine", write_function},
    {Op::cos, "cosine", write_function},
    {Op::tan, "tan", write_function},
    {Op::erf, "chlo.erf", write_function},
    {Op::sqrt, "sqrt"},
    {Op::rsqrt, "rsqrt", write_function},
    {Op::cbrt, "cbrt", write_cbrt},
    {Op::floor, "floor"},
    {Op::ceil, "ceil"},
    {Op::round_nearest_even, "round_nearest_even"},
    {Op::is_finite, "is_finite"},
    {Op::is_nan, "compare", write_is_nan},
    {Op::logical_not, "not"},
    {Op::bitwise_not, "not"},
    {Op::popcnt, "popcnt", write_bit_count},
    {Op::count_leading_zeros, "count_leading_zeros", write_bit_count},
    {Op::real, "real", write_real},
    {Op::imag, "imag", write_imag},
    {Op::conj, "complex", write_conj},
    // Element-wise: two operands.
    {Op::add, "add", write_sum_or_product},
    {Op::sub, "subtract"},
    {Op::mul, "multiply", write_sum_or_product},
    {Op::div, "divide", write_div},
    {Op::rem, "remainder"},
    {Op::pow, "power", write_pow},
    {Op::atan2, "atan2", write_atan2},
    {Op::complex, "complex"},
    {Op::max, "maximum", write_larger_or_smaller},
    {Op::min, "minimum", write_larger_or_smaller},
    {Op::logical_and, "and"},
    {Op::logical_or, "or"},
    {Op::logical_xor, "xor"},
    {Op::bitwise_and, "and"},
    {Op::bitwise_or, "or"},
    {Op::bitwise_xor, "xor"},
    {Op::shift_left, "shift_left"},
    {Op::shift_right_arithmetic, "shift_right_arithmetic"},
    {Op::shift_right_logical, "shift_right_logical"},
    // Element-wise: comparisons and the rest.
    {Op::equal, "compare", write_comparison},
    {Op::not_equal, "compare", write_comparison},
    {Op::less, "compare", write_comparison},
    {Op::less_or_equal, "compare", write_comparison},
    {Op::greater, "compare", write_comparison},
    {Op::greater_or_equal, "compare", write_comparison},
    {Op::equal_total_order, "compare", write_comparison},
    {Op::not_equal_total_order, "compare", write_comparison},
    {Op::less_total_order, "compare", write_comparison},
    {Op::less_or_equal_total_order, "compare", write_comparison},
    {Op::greater_total_order, "compare", write_comparison},
    {Op::greater_or_equal_total_order, "compare", write_comparison},
    {Op::select, "select"},
    {Op::clamp, "clamp", write_clamp},
    {Op::convert, "convert", write_convert},
    {Op::bitcast, "bitcast_convert", write_bitcast, refuse_bitcast},
    // Moving elements.
    {Op::iota, "iota", write_iota},
    {Op::reshape, "reshape"},
    {Op::transpose, "transpose", write_transpose},
    {Op::broadcast_in_dim, "broadcast_in_dim", write_broadcast_in_dim},
    {Op::concatenate, "concatenate", write_concatenate},
    {Op::slice, "slice", write_slice},
    {Op::pad, "pad", write_pad},
    {Op::reverse, "reverse", write_reverse},
    {Op::dynamic_slice, "dynamic_slice", write_dynamic_slice},
    {Op::dynamic_update_slice, "dynamic_update_slice", write_dynamic_update_slice},
    {Op::dimension_size, "constant", write_dimension_size},
    {Op::dynamic_reshape, "reshape", write_dynamic_reshape},
    {Op::gather, "gather", write_gather},
    {Op::scatter_set, "scatter", write_scatter},
    {Op::scatter_sum, "scatter", write_scatter},
    {Op::scatter_max, "scatter", write_scatter},
    {Op::scatter_min, "scatter", write_scatter},
    // Sums and orders.
    {Op::dot_general, "dot_general", write_dot_general},
    {Op::reduce_sum, "reduce", write_reduction},
    {Op::reduce_max, "reduce", write_reduction},
    {Op::reduce_min, "reduce", write_reduction},
    {Op::reduce_product, "reduce", write_reduction},
    {Op::reduce_and, "reduce", write_reduction},
    {Op::reduce_or, "reduce", write_reduction},
    {Op::reduce_xor, "reduce", write_reduction},
    {Op::reduce_bitwise_and, "reduce", write_reduction},
    {Op::reduce_bitwise_or, "reduce", write_reduction},
    {Op::reduce_bitwise_xor, "reduce", write_reduction},
    {Op::arg_min_max, "reduce", write_arg_min_max},
    {Op::cumulative_sum, "pad", write_cumulative},
    {Op::cumulative_product, "pad", write_cumulative},
    {Op::cumulative_max, "pad", write_cumulative},
    {Op::cumulative_min, "pad", write_cumulative},
    {Op::top_k, "chlo.top_k", write_top_k},
    // Barriers, and one-device collectives, which return their operand.
    {Op::optimization_barrier, "optimization_barrier", write_barrier},
    {Op::scheduling_barrier, "optimization_barrier", write_barrier},
    {Op::all_reduce, "itself", write_alone},
    {Op::all_gather, "itself", write_alone},
    {Op::all_to_all, "itself", write_alone},
    {Op::reduce_scatter, "itself", write_alone},
    {Op::collective_permute, "itself", write_collective_permute},
    {Op::collective_broadcast, "itself", write_alone},
    {Op::replica_id, "replica_id"},
    {Op::partition_id, "partition_id"},
    // Windows, transforms, norms, random bits, encodings.
    {Op::conv_general, "convolution", write_conv_general},
    {Op::reduce_window, "reduce_window", write_reduce_window},
    {Op::select_and_scatter_max, "reduce_window", write_select_and_scatter},
    {Op::select_and_scatter_min, "reduce_window", write_select_and_scatter},
    {Op::fft, "fft", write_fft},
    {Op::batch_norm_inference, "multiply", write_batch_norm_inference},
    {Op::batch_norm_training, "reduce", write_batch_norm_training},
    {Op::batch_norm_gradient, "reduce", write_batch_norm_gradient},
    {Op::rng_bit_generator, "rng_bit_generator", write_rng_bit_generator},
    {Op::dequantize, "multiply", write_dequantize},
    // Regions.
    {Op::while_loop, "while", write_while_loop},
    {Op::if_else, "if", write_if_else},
    {Op::call, "itself", write_call},
    {Op::reduce, "reduce", write_generic_reduce},
    {Op::sort, "sort", write_sort},
};

}  // namespace

const HloSpelling* find_spelling(Op op) {
  const auto* row = std::ranges::find(kSpellings, op, &HloSpelling::op);
  return row == std::end(kSpellings) ? nullptr : row;
}

}  // namespace alate::exchange
