#include "graph/passes.h"
#include "graph/passes/matching.h"
#include "graph/passes/permutations.h"

namespace alate::graph {
namespace {

// The axes in the order batch, features, spatial (or features last).
Numbers wanted_order(std::int64_t batch, std::int64_t feature, const Numbers& spatial, ConvolutionLayout layout) {
  Numbers order = {batch};
  if (layout == ConvolutionLayout::features_first) order.push_back(feature);
  order.insert(order.end(), spatial.begin(), spatial.end());
  if (layout == ConvolutionLayout::features_last) order.push_back(feature);
  return order;
}

}  // namespace

Graph choose_convolution_layout(const Graph& graph, ConvolutionLayout layout) {
  return replace_matches(graph, [&](NodeId id) -> Replacement {
    const Node& node = graph.node(id);
    if (node.op != Op::conv_general) return {};
    const Convolution old = std::get<Convolution>(node.attributes);
    const Numbers input = wanted_order(old.input_batch, old.input_feature, old.input_spatial, layout);
    const Numbers output = wanted_order(old.output_batch, old.output_feature, old.output_spatial, layout);
    if (is_identity(input) && is_identity(output)) return {};
    return [=, &graph](Rewriter& rewriter, Builder& b) {
      const Numbers in_place = inverse(input), out_place = inverse(output);
      const auto moved = [](const Numbers& places, std::int64_t axis) {
        return places[static_cast<std::size_t>(axis)];
      };
      Convolution convolution = old;
      convolution.input_batch = moved(in_place, old.input_batch);
      convolution.input_feature = moved(in_place, old.input_feature);
      convolution.input_spatial = composed(in_place, old.input_spatial);
      convolution.output_batch = moved(out_place, old.output_batch);
      convolution.output_feature = moved(out_place, old.output_feature);
      convolution.output_spatial = composed(out_place, old.output_spatial);
      const Node& found = graph.node(id);
      const Value x = transpose_by(b, rewriter.mapped(found.operands[0]), input);
      const Value y = b.conv_general({x, rewriter.mapped(found.operands[1])}, std::move(convolution));
      return transpose_by(b, y, out_place);
    };
  });
}

}  // namespace alate::graph
