// What each kind of step has to do in a call, for profiles: a function a kind, of the bound shapes. Kinds without one
// of their own count bytes alone, which is right where every operand is read whole.
#pragma once

#include "backends/cpu/plan/plan.h"

namespace alate::cpu {

/// Of any step, by its operation's function.
backends::Work work_of(const Step& step, const Frame& frame);

/// Bytes of the operands, weights as they are packed, and of the results.
backends::Work moved_bytes(const Step& step, const Frame& frame);
/// Of one operand: none of one that is there for its shape.
double operand_bytes(const Step& step, const Frame& frame, std::size_t operand);
double result_bytes(const Step& step, const Frame& frame);
/// Of steps that run other steps, which tell their own.
backends::Work no_work(const Step& step, const Frame& frame);

// Matrix products, in product_work.cpp. Bias, activation and residual are not counted.
backends::Work dense_work(const Step& step, const Frame& frame);
backends::Work half_dense_work(const Step& step, const Frame& frame);
backends::Work quantized_dense_work(const Step& step, const Frame& frame);
backends::Work integer_product_work(const Step& step, const Frame& frame);
/// Of a norm and the product that reads its result, which no memory gives back.
backends::Work norm_integer_product_work(const Step& step, const Frame& frame);
backends::Work dot_general_work(const Step& step, const Frame& frame);
/// Places in the padding count as others.
backends::Work convolution_work(const Step& step, const Frame& frame);

// Attention, in attention_work.cpp: the two products over the keys that each query sees, without the softmax.
backends::Work attention_work(const Step& step, const Frame& frame);
backends::Work ragged_attention_work(const Step& step, const Frame& frame);

// Rows, in row_work.cpp. A function other than + and × counts one.
backends::Work layer_norm_work(const Step& step, const Frame& frame);
backends::Work rms_norm_work(const Step& step, const Frame& frame);
backends::Work normalize_work(const Step& step, const Frame& frame);
backends::Work softmax_work(const Step& step, const Frame& frame);
backends::Work pool_work(const Step& step, const Frame& frame);

// Steps that touch parts of an operand, in moving_work.cpp: as many bytes of it as the result has.
backends::Work slice_work(const Step& step, const Frame& frame);
backends::Work gather_work(const Step& step, const Frame& frame);
backends::Work quantized_embedding_work(const Step& step, const Frame& frame);
/// In place, the operand is read and written where the update goes alone.
backends::Work update_slice_work(const Step& step, const Frame& frame);
backends::Work scatter_work(const Step& step, const Frame& frame);

}  // namespace alate::cpu
