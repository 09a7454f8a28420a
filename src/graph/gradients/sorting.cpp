// Gradients of sort and top_k: cotangents go back to the values' original positions.
#include <memory>

#include "graph/gradients/rules.h"
#include "graph/inline_graph.h"

namespace alate::graph {
namespace {

// The comparator with two additional, unused parameters.
Region with_ignored_places(const Graph& comparator) {
  Builder b(comparator.name(), comparator.shared_dims());
  std::vector<Value> taken;
  for (std::size_t i = 0; i < comparator.parameters().size(); ++i)
    taken.push_back(b.parameter("value " + std::to_string(i), comparator.parameters()[i].shape));
  b.parameter("first place", {DType::i64, {}});
  b.parameter("second place", {DType::i64, {}});
  b.output("comes before", inline_graph(b, comparator, taken).front());
  return std::make_shared<const Graph>(b.finish());
}

// Compares tuples of an index and values of these dtypes by their indices.
Region by_place(const std::shared_ptr<DimTable>& dims, const std::vector<DType>& dtypes) {
  Builder b("by place", dims);
  const Value first = b.parameter("first place", {DType::i64, {}});
  const Value second = b.parameter("second place", {DType::i64, {}});
  for (const DType dtype : dtypes) {
    const std::string number = std::to_string(b.so_far().parameters().size());
    b.parameter("value " + number, {dtype, {}});
    b.parameter("value " + number + " of the second", {dtype, {}});
  }
  b.output("comes before", b.less({first, second}));
  return std::make_shared<const Graph>(b.finish());
}

// Sorts again, with indices; then sorts the cotangents by those indices.
void sort(Backward& call) {
  Builder& b = call.b;
  const Sort sort = call.as<Sort>();
  std::vector<Value> operands = call.node.operands;
  operands.push_back(indices_along(b, call.x_shape().dims, static_cast<std::size_t>(sort.axis)));
  const Value places = b.sort(operands, sort, with_ignored_places(*call.node.regions[0])).back();
  std::vector<Value> cotangents{places};
  std::vector<DType> dtypes;
  for (std::size_t i = 0; i < call.node.operands.size(); ++i) {
    if (!call.wants(i) || !call.cotangents[i]) continue;
    cotangents.push_back(call.g(i));
    dtypes.push_back(call.x_shape(i).dtype);
  }
  const std::vector<Value> back = b.sort(cotangents, sort, by_place(b.dims(), dtypes));
  for (std::size_t i = 0, next = 1; i < call.node.operands.size(); ++i) {
    if (call.wants(i) && call.cotangents[i]) call.give(i, back[next++]);
  }
}

void top_k(Backward& call) {
  if (!call.cotangents[0]) return;
  const Shape x = call.x_shape();
  call.give(0, scatter_along(call.b, x, x.rank() - 1, call.y(1), call.g()));
}

constexpr GradientRule kSortRules[] = {{Op::sort, sort}, {Op::top_k, top_k}};

}  // namespace

std::span<const GradientRule> sort_gradients() { return kSortRules; }

}  // namespace alate::graph
