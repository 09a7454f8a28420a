// Chains of element-wise ops, run tile by tile: intermediate values never leave the L1 cache.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "backends/cpu/kernels/elementwise/tile.h"
#include "backends/cpu/plan/plan.h"

namespace alate::cpu {

/// Elements of a tile. Tiles begin at multiples of it, so that packed types begin at whole bytes.
inline constexpr std::size_t kTile = 512;
/// Limits of one chain, so that its buffers fit in the cache.
inline constexpr std::size_t kMaxTileInputs = 12, kMaxTileInstructions = 24;

/// An input of a chain: element i of the result, in row-major order, takes element (i / inner) % period of the slot,
/// where `period` is the product of the result's extents of the axes [first_axis, last_axis) and `inner` that of the
/// axes after. All axes: the slot is dense; none: it has one element.
struct TileInput {
  DType dtype = DType::invalid;
  std::size_t first_axis = 0, last_axis = 0;
};

/// One kernel call on tiles. Registers are the inputs, then buffers, reused when their value is dead.
struct TileInstruction {
  TileKernel kernel{};
  std::array<TileKernel, 3> widen{};  // for operands that are computed in another type
  TileKernel narrow{};                // for a result that is computed in another type
  std::array<std::uint16_t, 3> operands{};
  std::uint8_t operand_count = 0;
  std::uint16_t result = 0;
};

struct TileProgram {
  std::vector<TileInput> inputs;  // in the order of the step's inputs
  std::vector<TileInstruction> instructions;
  std::size_t registers = 0;  // buffers after the inputs
  DType result = DType::invalid;
};

/// The instruction that computes an element-wise node for its dtypes, without registers; or none.
std::optional<TileInstruction> tile_instruction(const graph::Graph& graph, const graph::Node& node);
/// Whether nodes of `op` that compute in `dtype` have an instruction.
bool has_tile_instruction(graph::Op op, DType dtype);

/// The inputs of the step's chain that go row by row, as in row_operands.h.
std::uint32_t tiled_rows(const Step& step);
/// Runs the step's chain.
void run_tiles(const Step& step, const Frame& frame);
std::size_t tiles_scratch(const Step& step, const Binding& binding, std::size_t index);

}  // namespace alate::cpu
