#include "graph/shapes/axes.h"
#include "graph/shapes/rules.h"

// https://openxla.org/stablehlo/spec#all_reduce and the others, for a program that runs on one device. Groups that need
// more devices are unsupported, not invalid.
namespace alate::graph {
namespace {

void require_one_device(const InferenceInput& input, const Groups& groups) {
  if (groups.empty() || groups == Groups{{0}}) return;
  input.fail("replica_groups must be empty or [[0]], because a graph runs on one device", ErrorCode::unsupported);
}

DTypeSet dtypes_of(Reduction reduction) {
  switch (reduction) {
    case Reduction::sum:
    case Reduction::product: return kAll;
    case Reduction::max:
    case Reduction::min: return kNumbers;
    case Reduction::logical_and:
    case Reduction::logical_or:
    case Reduction::logical_xor: return kBool;
    case Reduction::bitwise_and:
    case Reduction::bitwise_or:
    case Reduction::bitwise_xor: return kInts;
  }
  return 0;
}

void require_reducible(const InferenceInput& input, Reduction reduction) {
  for (std::size_t i = 0; i < input.operands.size(); ++i) {
    input.require(contains(dtypes_of(reduction), input.operands[i].dtype), [&] {
      return "operand " + std::to_string(i) + " has dtype " + std::string(alate::to_string(input.operands[i].dtype)) +
             ", of which there is no " + std::string(to_string(reduction));
    });
  }
}

// With one device, each result is its operand.
std::vector<Shape> like_operands(const InferenceInput& input) { return {input.operands.begin(), input.operands.end()}; }

}  // namespace

std::vector<Shape> infer_barrier(const InferenceInput& input) { return like_operands(input); }

std::vector<Shape> infer_all_reduce(const InferenceInput& input) {
  const AllReduce& attributes = input.as<AllReduce>();
  require_one_device(input, attributes.replica_groups);
  require_reducible(input, attributes.reduction);
  return like_operands(input);
}

std::vector<Shape> infer_all_gather(const InferenceInput& input) {
  const AllGather& attributes = input.as<AllGather>();
  require_one_device(input, attributes.replica_groups);
  for (std::size_t i = 0; i < input.operands.size(); ++i) require_axis(input, attributes.axis, i, "axis");
  return like_operands(input);
}

std::vector<Shape> infer_all_to_all(const InferenceInput& input) {
  const AllToAll& attributes = input.as<AllToAll>();
  require_one_device(input, attributes.replica_groups);
  if (attributes.split_count != 1)
    input.fail("split_count must be 1, because a graph runs on one device", ErrorCode::unsupported);
  for (std::size_t i = 0; i < input.operands.size(); ++i) {
    require_axis(input, attributes.split_axis, i, "split_axis");
    require_axis(input, attributes.concat_axis, i, "concat_axis");
  }
  return like_operands(input);
}

std::vector<Shape> infer_reduce_scatter(const InferenceInput& input) {
  const ReduceScatter& attributes = input.as<ReduceScatter>();
  require_one_device(input, attributes.replica_groups);
  require_reducible(input, attributes.reduction);
  require_axis(input, attributes.axis, 0, "axis");
  return like_operands(input);
}

std::vector<Shape> infer_collective_permute(const InferenceInput& input) {
  const Groups& pairs = input.as<CollectivePermute>().source_target_pairs;
  if (!pairs.empty() && pairs != Groups{{0, 0}})
    input.fail("source_target_pairs must be empty or [[0,0]], because a graph runs on one device",
               ErrorCode::unsupported);
  return like_operands(input);
}

std::vector<Shape> infer_collective_broadcast(const InferenceInput& input) {
  require_one_device(input, input.as<CollectiveBroadcast>().replica_groups);
  return like_operands(input);
}

std::vector<Shape> infer_device_id(const InferenceInput&) { return {{DType::u32, {}}}; }

}  // namespace alate::graph
