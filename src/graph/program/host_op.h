// Ops between graphs whose results' sizes depend on data.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "alate/tensor.h"

namespace alate::graph {

struct ValueType;

enum class HostOp : std::uint8_t {
#define ALATE_HOST_OP(name, ...) name,
#include "graph/program/host_ops.def"
};

std::string_view to_string(HostOp op);
/// The inverse of `to_string`; nothing for an unknown name.
std::optional<HostOp> parse_host_op(std::string_view name);
/// In the table's order.
std::span<const HostOp> all_host_ops();

/// The types of an op's results. Throws invalid_argument, saying what is wrong, for operands that it does not take.
std::vector<ValueType> host_types(HostOp op, std::span<const ValueType> operands);
/// The op's results. Throws invalid_argument for operands that it does not take, resource_exhausted.
std::vector<Tensor> run_host_op(HostOp op, std::span<const Tensor> operands);

}  // namespace alate::graph
