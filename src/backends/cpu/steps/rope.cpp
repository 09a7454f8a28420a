#include "backends/cpu/kernels/attention/rope.h"

#include "backends/cpu/steps/products/widened.h"
#include "backends/cpu/steps/steps.h"

namespace alate::cpu {

bool fits_rope(const graph::Graph& graph, const graph::Node& node) {
  if (!std::get<graph::Rope>(node.attributes).has_positions) return true;
  const DType positions = graph.shape(node.operands[1]).dtype;
  return positions == DType::i32 || positions == DType::i64;
}

bool fits_rope_of_rows(const graph::Graph& graph, const graph::Node& node) {
  return node.results[0].rank() == 3 && fits_rope(graph, node);
}

void run_rope(const Step& step, const Frame& frame) {
  const auto& rope = std::get<graph::Rope>(step.attributes);
  const Shape& x = frame.shape(step.inputs[0]);
  if (count_of(x) == 0) return;
  const std::size_t first_table = rope.has_positions ? 2 : 1;
  const Shape& table = frame.shape(step.inputs[first_table]);
  WidenedValues values(step, frame);
  RopeArguments arguments;
  arguments.heads = extent_of(x, x.rank() - 2);
  arguments.width = extent_of(x, x.rank() - 1);
  arguments.tokens = count_of(x) / (arguments.heads * arguments.width);
  arguments.half = extent_of(table, table.rank() - 1);
  arguments.interleaved = rope.interleaved;
  arguments.x = values.in(0);
  arguments.x_stride = x.rank() == 3 ? frame.row_stride(step.inputs[0]) : arguments.heads * arguments.width;
  arguments.cosines = values.in(first_table);
  arguments.sines = values.in(first_table + 1);
  if (rope.has_positions) {
    arguments.places = extent_of(table, 0);
    if (frame.shape(step.inputs[1]).dtype == DType::i32) {
      arguments.positions_32 = frame.in<std::int32_t>(step.inputs[1]);
    } else {
      arguments.positions_64 = frame.in<std::int64_t>(step.inputs[1]);
    }
  }
  arguments.out = values.out();
  rotate_heads(arguments, frame.pool, frame.max_workers);
  values.finish();
}

}  // namespace alate::cpu
