// What follows the main computation of a step, on rows that are still in registers or in the nearest cache.
#pragma once

#include <cstddef>
#include <optional>

#include "graph/attributes.h"

namespace alate::cpu {

/// A product's result is activation(product + bias) + residual; norms and attention have neither. It goes to the step's
/// first output, in the format of that slot. Operands and further results are places among the step's inputs and
/// outputs.
struct Epilogue {
  std::optional<std::size_t> bias = {}, residual = {};  // inputs
  graph::Activation activation = graph::Activation::none;
  std::optional<std::size_t> row_sums = {};  // output: sums of the result's rows, see sum_results.h
  std::optional<std::size_t> rounded = {};   // output: the result once more, in bf16 rows, see round_results.h
  bool is_quantized_next = false;  // every reader quantizes the result to 8 bits: it need not be more precise than that

  bool operator==(const Epilogue&) const = default;
};

/// As the attributes of a product say; of other ops, an epilogue that does nothing.
Epilogue epilogue_of(const graph::Attributes& attributes);

}  // namespace alate::cpu
