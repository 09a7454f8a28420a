// Gradients of collectives, random bits and stored encodings.
#include "graph/gradients/rules.h"

namespace alate::graph {
namespace {

constexpr std::string_view kOnlySums = "of combined devices only the sum has one";

// Emits an op for each operand that has a gradient.
template <typename Emit>
void each(Backward& call, Emit emit) {
  for (std::size_t i = 0; i < call.node.operands.size(); ++i) {
    if (call.wants(i) && call.cotangents[i]) call.give(i, emit(call.g(i)));
  }
}

// Each device's operand contributes to the result of every device of its group.
void all_reduce(Backward& call) {
  const AllReduce attributes = call.as<AllReduce>();
  if (attributes.reduction != Reduction::sum) call.fail(kOnlySums);
  each(call, [&](Value g) { return call.b.all_reduce({g}, attributes).front(); });
}

void all_gather(Backward& call) {
  const AllGather attributes = call.as<AllGather>();
  each(call, [&](Value g) {
    return call.b.reduce_scatter(
        {g}, {.reduction = Reduction::sum, .axis = attributes.axis, .replica_groups = attributes.replica_groups});
  });
}

void all_to_all(Backward& call) {
  AllToAll back = call.as<AllToAll>();
  std::swap(back.split_axis, back.concat_axis);
  each(call, [&](Value g) { return call.b.all_to_all({g}, back).front(); });
}

void reduce_scatter(Backward& call) {
  const ReduceScatter attributes = call.as<ReduceScatter>();
  if (attributes.reduction != Reduction::sum) call.fail(kOnlySums);
  each(call, [&](Value g) {
    return call.b.all_gather({g}, {.axis = attributes.axis, .replica_groups = attributes.replica_groups}).front();
  });
}

void collective_permute(Backward& call) {
  CollectivePermute back = call.as<CollectivePermute>();
  for (Numbers& pair : back.source_target_pairs) std::swap(pair.at(0), pair.at(1));
  each(call, [&](Value g) { return call.b.collective_permute({g}, back); });
}

constexpr GradientRule kDeviceRules[] = {
    {Op::all_reduce, all_reduce},
    {Op::all_gather, all_gather},
    {Op::all_to_all, all_to_all},
    {Op::reduce_scatter, reduce_scatter},
    {Op::collective_permute, collective_permute},
    no_gradient(Op::collective_broadcast, "it would be a reduction to one device, which no op is"),
    zero_gradient(Op::replica_id, "it has no operands"),
    zero_gradient(Op::partition_id, "it has no operands"),
    zero_gradient(Op::rng_bit_generator, "bits have no derivative"),
    no_gradient(Op::dequantize, "stored encodings are not trained; write float ops over scales that are"),
};

}  // namespace

std::span<const GradientRule> device_gradients() { return kDeviceRules; }

}  // namespace alate::graph
