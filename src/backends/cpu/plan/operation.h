// How the CPU runs an op: a row of the table of operations (steps/operations.h), with all that the planner and the
// passes know of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "alate/tensor.h"
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

/// How the CPU runs one op for some dtypes: a row of the backend's spelling table.
struct Operation {
  graph::Op op;
  graph::DTypeSet dtypes;  // of the first operand, or of the result of ops without operands
  std::string_view spelling;
  void (*run)(const Step&, const Frame&);
  std::uint32_t strided_operands = 0;  // bit i: operand i may be a view with a row stride
  std::span<const PackedOperand> packed = {};
  std::size_t (*scratch)(const Step&, const Binding&, std::size_t step) = nullptr;  // bytes per run
  bool (*fits)(const graph::Graph&, const graph::Node&) = nullptr;  // further conditions on a node; null: none
  bool may_run_in_place = false;  // may run in place: its one result over operand 0, which then has no other reader
  bool stores_blocks = false;     // its result may be stored in column blocks
  bool rounds_result = false;     // its f32 result may be stored as bf16
  bool reads_graphs = false;      // takes regions as graphs, not as plans
  backends::Work (*work)(const Step&, const Frame&) = nullptr;  // per call; null: moved_bytes of steps/work.h

  /// Which of the packed operands is at this place; none if the operand is taken as it is.
  std::optional<std::size_t> packed_at(std::size_t place, const graph::Attributes& attributes) const;
};

}  // namespace alate::cpu
