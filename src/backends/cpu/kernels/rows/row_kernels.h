// The kernels over rows, of an instruction set's table (dispatch.h).
#pragma once

#include <cstddef>

#include "backends/cpu/kernels/rows/bf16_rows.h"
#include "backends/cpu/kernels/rows/byte_rows.h"
#include "backends/cpu/kernels/rows/embed_norm.h"
#include "backends/cpu/kernels/rows/normalize.h"
#include "backends/cpu/kernels/rows/reduce.h"
#include "backends/cpu/kernels/rows/row_products.h"
#include "backends/cpu/kernels/rows/softmax.h"
#include "backends/cpu/kernels/vectors/kernel_set.h"

namespace alate::cpu {

/// Each is documented at the function of the same name in its own header, which adds threading.
struct RowKernels {
  void (*normalize_rows)(NormKind, const NormArguments&) = nullptr;
  void (*embed_norm)(const EmbedNormArguments&, std::size_t begin,
                     std::size_t end) = nullptr;  // positions [begin, end)
  void (*round_rows_to_bf16)(const Bf16RowArguments&) = nullptr;
  void (*softmax_rows)(const SoftmaxArguments&) = nullptr;
  void (*dot_rows)(const RowProductArguments&) = nullptr;
  void (*sum_rows)(const RowProductArguments&) = nullptr;
  void (*dot_byte_rows)(const ByteRowArguments&) = nullptr;
  ReduceLoop (*reduce_loop)(TileOp, DType) = nullptr;
};

const RowKernels& row_kernels(const Kernels& set = kernels());

}  // namespace alate::cpu
