#include "backends/cpu/kernels/attention/rope.h"

#include "backends/cpu/steps/products/widened.h"
#include "backends/cpu/steps/steps.h"
#include "graph/operands.h"

namespace alate::cpu {

bool fits_rope(const graph::Graph& graph, const graph::Node& node) {
  const std::optional<graph::Value> positions = graph::RopeOperands<>::of(node).positions;
  if (!positions) return true;
  const DType dtype = graph.shape(*positions).dtype;
  return dtype == DType::i32 || dtype == DType::i64;
}

bool fits_rope_of_rows(const graph::Graph& graph, const graph::Node& node) {
  return node.results[0].rank() == 3 && fits_rope(graph, node);
}

void run_rope(const Step& step, const Frame& frame) {
  const auto& rope = std::get<graph::Rope>(step.attributes);
  const auto at = graph::places_of<graph::RopeOperands>(rope);
  const Shape& x = frame.shape(step.inputs[at.x]);
  if (count_of(x) == 0) return;
  const Shape& table = frame.shape(step.inputs[at.cosines]);
  WidenedValues values(step, frame);
  RopeArguments arguments;
  arguments.heads = extent_of(x, x.rank() - 2);
  arguments.width = extent_of(x, x.rank() - 1);
  arguments.tokens = count_of(x) / (arguments.heads * arguments.width);
  arguments.half = extent_of(table, table.rank() - 1);
  arguments.interleaved = rope.interleaved;
  arguments.x = values.in(at.x);
  arguments.x_stride = x.rank() == 3 ? frame.row_stride(step.inputs[at.x]) : arguments.heads * arguments.width;
  arguments.cosines = values.in(at.cosines);
  arguments.sines = values.in(at.sines);
  if (at.positions) {
    const SlotId positions = step.inputs[*at.positions];
    arguments.places = extent_of(table, 0);
    if (frame.shape(positions).dtype == DType::i32) {
      arguments.positions_32 = frame.in<std::int32_t>(positions);
    } else {
      arguments.positions_64 = frame.in<std::int64_t>(positions);
    }
  }
  arguments.out = values.out();
  rotate_heads(arguments, frame.pool, frame.max_workers);
  values.finish();
}

}  // namespace alate::cpu
