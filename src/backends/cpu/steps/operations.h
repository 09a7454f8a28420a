// The ops that the CPU runs natively, and their kernels.
#pragma once

#include <span>

#include "backends/cpu/plan/plan.h"
#include "backends/spelling.h"

namespace alate::cpu {

/// The backend's spelling table.
std::span<const Operation> operations();

/// Whether and how the table's rows run a node.
backends::Support supports(const graph::Graph& graph, const graph::Node& node);

/// The table's row for a node. Throws internal where there is none: the graph was not checked by require_native.
const Operation& find_operation(const graph::Graph& graph, const graph::Node& node);

/// Copies a value of any dtype, dense or a view, to a dense one.
const Operation& copy_operation();

/// Looks up rows, adds and normalizes them: for steps that join_embeddings.h makes.
const Operation& embed_norm_operation();

/// A norm joined with the integer product that reads its rows, see join_norms.h.
const Operation& norm_product_operation();

}  // namespace alate::cpu
