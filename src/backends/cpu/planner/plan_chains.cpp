// Chains of element-wise ops: a node whose only reader is another element-wise node of the same extents joins its
// chain.
#include <algorithm>

#include "backends/cpu/planner/planner.h"

namespace alate::cpu {
namespace {

using graph::NodeId;

constexpr NodeId kNoReader = UINT32_MAX, kSeveralReaders = UINT32_MAX - 1;

// Value numbers while a chain is built: inputs by index; results by instruction index, from here on.
constexpr std::uint16_t kFirstResult = 0x8000;

// The reader of each node that has only one. Graph outputs count as read from outside.
std::vector<NodeId> only_readers(const graph::Graph& graph) {
  std::vector<NodeId> readers(graph.nodes().size(), kNoReader);
  for (NodeId id = 0; id < graph.nodes().size(); ++id) {
    for (const graph::Value operand : graph.node(id).operands) {
      NodeId& reader = readers[operand.node];
      reader = reader == kNoReader || reader == id ? id : kSeveralReaders;
    }
  }
  for (const graph::Output& output : graph.outputs()) readers[output.value.node] = kSeveralReaders;
  return readers;
}

// Assigns buffers to results; a buffer is reused as soon as its value has been read for the last time.
void assign_registers(TileProgram& program) {
  std::vector<std::size_t> last_use(program.instructions.size(), 0);
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    const TileInstruction& instruction = program.instructions[i];
    for (std::size_t k = 0; k < instruction.operand_count; ++k) {
      if (instruction.operands[k] >= kFirstResult) last_use[instruction.operands[k] - kFirstResult] = i;
    }
  }
  std::vector<std::uint16_t> free, given(program.instructions.size());
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    TileInstruction& instruction = program.instructions[i];
    if (free.empty()) free.push_back(static_cast<std::uint16_t>(program.inputs.size() + program.registers++));
    given[i] = instruction.result = free.back();
    free.pop_back();
    for (std::size_t k = 0; k < instruction.operand_count; ++k) {
      if (instruction.operands[k] < kFirstResult) continue;
      const std::size_t maker = instruction.operands[k] - kFirstResult;
      instruction.operands[k] = given[maker];
      if (last_use[maker] != i) continue;
      free.push_back(given[maker]);
      last_use[maker] = SIZE_MAX;  // an operand that occurs twice is released once
    }
  }
}

}  // namespace

struct Planner::Chain {
  Step step;
  TileProgram program;
  std::vector<std::pair<NodeId, std::uint16_t>> made;

  std::uint16_t input(SlotId slot, const TileInput& input) {
    for (std::size_t i = 0; i < step.inputs.size(); ++i) {
      const TileInput& known = program.inputs[i];
      if (step.inputs[i] == slot && known.first_axis == input.first_axis && known.last_axis == input.last_axis)
        return static_cast<std::uint16_t>(i);
    }
    step.inputs.push_back(slot);
    program.inputs.push_back(input);
    return static_cast<std::uint16_t>(step.inputs.size() - 1);
  }
};

void Planner::find_chains() {
  const std::vector<NodeId> readers = only_readers(graph_);
  instructions_.resize(graph_.nodes().size());
  joins_.assign(graph_.nodes().size(), false);
  std::vector<std::size_t> lengths(graph_.nodes().size(), 0), inputs(graph_.nodes().size(), 0);
  for (NodeId id = 0; id < graph_.nodes().size(); ++id) {
    const graph::Node& node = graph_.node(id);
    if (!graph::op_info(node.op).has(graph::kElementwise)) continue;
    instructions_[id] = tile_instruction(graph_, node);
    if (!instructions_[id]) continue;
    lengths[id] = 1;
    inputs[id] = node.operands.size();
    for (const graph::Value operand : node.operands) {
      const NodeId from = operand.node;
      if (joins_[from] || !instructions_[from] || readers[from] != id ||
          graph_.shape(operand).dims != node.results[0].dims || lengths[id] + lengths[from] > kMaxTileInstructions ||
          inputs[id] + inputs[from] > kMaxTileInputs)
        continue;
      joins_[from] = true;
      lengths[id] += lengths[from];
      inputs[id] += inputs[from];
    }
  }
}

// The operand's axes other than 1 must be adjacent in the result, in order.
std::optional<TileInput> Planner::broadcast_input(const graph::Node& node) const {
  if (node.op != graph::Op::broadcast_in_dim) return std::nullopt;
  const Shape& x = graph_.shape(node.operands[0]);
  const auto& [dims, mapping] = std::get<graph::BroadcastInDim>(node.attributes);
  if (bits_of(x.dtype) < 8) return std::nullopt;
  TileInput input{.dtype = x.dtype};
  bool any = false;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    if (x.dims[i] == Dim(1)) continue;
    const auto axis = static_cast<std::size_t>(mapping[i]);
    if (!any) input.first_axis = input.last_axis = axis;
    if (axis < input.last_axis) return std::nullopt;
    for (; input.last_axis < axis; ++input.last_axis) {
      if (dims[input.last_axis] != Dim(1)) return std::nullopt;
    }
    ++input.last_axis;
    any = true;
  }
  return input;
}

std::uint16_t Planner::chain_operand(Chain& chain, graph::Value value, const graph::Dims& dims) {
  const graph::Node& node = graph_.node(value.node);
  if (joins_[value.node]) return chain_node(chain, value.node);
  if (slots_of_[value.node].empty()) {
    if (const std::optional<TileInput> input = broadcast_input(node))
      return chain.input(dense(operand(node, 0)), *input);
  }
  const Shape& shape = graph_.shape(value);
  const std::size_t axes = shape.dims == dims ? dims.size() : 0;  // otherwise a scalar
  return chain.input(dense(slot_of(value)), {.dtype = shape.dtype, .first_axis = 0, .last_axis = axes});
}

std::uint16_t Planner::chain_node(Chain& chain, NodeId id) {
  for (const auto& [known, result] : chain.made) {
    if (known == id) return result;
  }
  const graph::Node& node = graph_.node(id);
  TileInstruction instruction = *instructions_[id];
  for (std::size_t i = 0; i < node.operands.size(); ++i)
    instruction.operands[i] = chain_operand(chain, node.operands[i], node.results[0].dims);
  const auto result = static_cast<std::uint16_t>(kFirstResult + chain.program.instructions.size());
  chain.program.instructions.push_back(instruction);
  chain.made.emplace_back(id, result);
  return result;
}

SlotId Planner::add_chain(NodeId id, const Operation& operation) {
  const graph::Node& node = graph_.node(id);
  Chain chain;
  chain_node(chain, id);
  assign_registers(chain.program);
  chain.program.result = node.results[0].dtype;
  chain.step.operation = &operation;
  chain.step.outputs = {add_arena_slot(node.results[0])};
  chain.step.tiles = std::make_shared<const TileProgram>(std::move(chain.program));
  chain.step.source = graph_.source(node.source);
  plan_.steps.push_back(std::move(chain.step));
  return plan_.steps.back().output();
}

}  // namespace alate::cpu
