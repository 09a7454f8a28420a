// The ops that the processor runs natively, and with which kernels.
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

/// Looks up rows, adds and normalizes them: of steps that join_embeddings.h makes.
const Operation& embed_norm_operation();

/// Two steps in one, see join_norms.h: a norm, and a product of integers of its rows.
const Operation& norm_product_operation();

}  // namespace alate::cpu
