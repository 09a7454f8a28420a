// How the CPU runs an op: a row of the table of operations (steps/operations.h), with all that the planner and the
// passes know of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "alate/tensor.h"
#include "backends/cpu/kernels/gemm/gemm_kernel.h"
#include "backends/cpu/kernels/rows/normalize.h"
#include "backends/cpu/plan/slot_format.h"
#include "backends/weight_store.h"
#include "backends/work.h"
#include "graph/graph.h"

namespace alate::cpu {

struct Binding;
struct Frame;
struct Step;

/// The place of an operand by its role; none if a step with these attributes does not have it.
using OperandPlace = std::optional<std::size_t> (*)(const graph::Attributes&);

/// A constant operand that the step takes in its kernel's layout.
struct PackedOperand {
  OperandPlace place;
  backends::WeightLayout::Role role;
  Tensor (*pack)(const Tensor& value, const graph::Attributes&);
  std::size_t (*bytes)(const Shape& shape, const graph::Attributes&);  // size of pack's result
  graph::Numbers (*parameters)(const graph::Attributes&) = nullptr;    // that elements' layout depends on; null: none
};

enum OperationTraits : std::uint32_t {
  kShowsOperands = 1,  // result i has exactly the bytes of operand i: the planner makes a view of it, not a step
  kRunsInPlace = 2,    // may write its one result over operand 0, which then has no other reader
  kReadsGraphs = 4     // takes regions as graphs, not as plans
};

/// How the CPU runs one op for some dtypes: a row of the backend's spelling table.
struct Operation {
  graph::Op op;
  graph::DTypeSet dtypes;  // of the first operand, or of the result of ops without operands
  std::string_view spelling;
  void (*run)(const Step&, const Frame&);
  FormatSet (*reads)(std::size_t operand, const graph::Attributes&) = nullptr;  // null: all row-major
  FormatSet writes = kRowMajor;                                                 // formats of the first result
  std::span<const PackedOperand> packed = {};
  const GemmKernel& (*kernel)() = nullptr;  // of a product of rows with a packed weight
  std::optional<NormKind> norm = {};        // of a norm over the last axis
  std::size_t (*scratch)(const Step&, const Binding&, std::size_t step) = nullptr;  // bytes per run
  bool (*fits)(const graph::Graph&, const graph::Node&) = nullptr;  // further conditions on a node; null: none
  std::uint32_t (*row_operands)(const Step&) = nullptr;             // see steps/row_operands.h; null: none
  backends::Work (*work)(const Step&, const Frame&) = nullptr;      // per call; null: moved_bytes of steps/work.h
  std::uint32_t traits = 0;

  bool has(OperationTraits trait) const { return (traits & trait) != 0; }
  /// Whether the operand at this place may have the format.
  bool reads_as(Format format, std::size_t place, const graph::Attributes& attributes) const {
    return ((reads != nullptr ? reads(place, attributes) : kRowMajor) & format) != 0;
  }
  bool writes_as(Format format) const { return (writes & format) != 0; }
  /// Which of the packed operands is at this place; none if the operand is taken as it is.
  std::optional<std::size_t> packed_at(std::size_t place, const graph::Attributes& attributes) const;
};

}  // namespace alate::cpu
