// Collectives over one-device groups: each operand is its own sum, gather, and so on.
#include "graph/reference/call.h"

namespace alate::graph {
namespace {

std::vector<Tensor> operands_of(const ReferenceCall& call) { return {call.operands.begin(), call.operands.end()}; }

}  // namespace

std::vector<Tensor> reference_optimization_barrier(const ReferenceCall& call) { return operands_of(call); }
std::vector<Tensor> reference_scheduling_barrier(const ReferenceCall& call) { return operands_of(call); }

std::vector<Tensor> reference_all_reduce(const ReferenceCall& call) { return operands_of(call); }
std::vector<Tensor> reference_all_gather(const ReferenceCall& call) { return operands_of(call); }
std::vector<Tensor> reference_all_to_all(const ReferenceCall& call) { return operands_of(call); }
Tensor reference_reduce_scatter(const ReferenceCall& call) { return call.operand(0); }
Tensor reference_collective_broadcast(const ReferenceCall& call) { return call.operand(0); }

Tensor reference_collective_permute(const ReferenceCall& call) {
  return call.as<CollectivePermute>().source_target_pairs.empty() ? Tensor::zeros(call.shape()) : call.operand(0);
}

Tensor reference_replica_id(const ReferenceCall&) { return Tensor::scalar(std::uint32_t{0}); }
Tensor reference_partition_id(const ReferenceCall&) { return Tensor::scalar(std::uint32_t{0}); }

}  // namespace alate::graph
