// Work of a step per call (bytes and operations), for profiles: one function per kind of step, from the bound shapes.
// Kinds without their own function count only bytes, which is right where every operand is read whole.
#pragma once

#include "backends/cpu/plan/plan.h"

namespace alate::cpu {

/// The work of any step, by its operation's function.
backends::Work work_of(const Step& step, const Frame& frame);

/// Bytes of the operands, with weights as packed, and of the results.
backends::Work moved_bytes(const Step& step, const Frame& frame);
/// Bytes of one operand; 0 for an operand that is only there for its shape.
double operand_bytes(const Step& step, const Frame& frame, std::size_t operand);
double result_bytes(const Step& step, const Frame& frame);
/// For steps that run other steps, which report their own work.
backends::Work no_work(const Step& step, const Frame& frame);

// Matrix products, in product_work.cpp. Bias, activation and residual are not counted.
backends::Work dense_work(const Step& step, const Frame& frame);
backends::Work half_dense_work(const Step& step, const Frame& frame);
backends::Work quantized_dense_work(const Step& step, const Frame& frame);
backends::Work block_dense_work(const Step& step, const Frame& frame);
backends::Work integer_product_work(const Step& step, const Frame& frame);
/// A norm and the product that reads its result; the product's reads of that result are not counted.
backends::Work norm_integer_product_work(const Step& step, const Frame& frame);
backends::Work dot_general_work(const Step& step, const Frame& frame);
/// Padding counts like other positions.
backends::Work convolution_work(const Step& step, const Frame& frame);

// Attention, in attention_work.cpp: the two products over the keys that each query sees, without the softmax.
backends::Work attention_work(const Step& step, const Frame& frame);
backends::Work ragged_attention_work(const Step& step, const Frame& frame);
/// Counts the rows of the cache that the sequences have.
backends::Work paged_attention_work(const Step& step, const Frame& frame);

// Rows, in row_work.cpp. A function such as exp or sqrt counts as one operation.
backends::Work layer_norm_work(const Step& step, const Frame& frame);
backends::Work rms_norm_work(const Step& step, const Frame& frame);
backends::Work normalize_work(const Step& step, const Frame& frame);
backends::Work softmax_work(const Step& step, const Frame& frame);
backends::Work pool_work(const Step& step, const Frame& frame);

// Steps that touch parts of an operand, in moving_work.cpp: they count as many of its bytes as the result has.
backends::Work slice_work(const Step& step, const Frame& frame);
backends::Work gather_work(const Step& step, const Frame& frame);
backends::Work quantized_embedding_work(const Step& step, const Frame& frame);
/// In place, only the updated part of the operand is read and written.
backends::Work update_slice_work(const Step& step, const Frame& frame);
backends::Work scatter_work(const Step& step, const Frame& frame);

}  // namespace alate::cpu
