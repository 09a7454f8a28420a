// Gradients of while_loop. A first loop records the state before each trip, a second one runs backward over the trips.
// This requires a known trip count: it is known if every value that the condition depends on starts as a constant.
#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "graph/gradients/rules.h"
#include "graph/inline_graph.h"
#include "graph/interpreter.h"

namespace alate::graph {
namespace {

// Trips are counted in the interpreter.
constexpr std::int64_t kMostTrips = 100'000;

using Places = std::set<std::size_t>;

// The nodes that the values depend on.
std::vector<bool> reached(const Graph& graph, std::span<const Value> values) {
  std::vector<bool> is_reached(graph.nodes().size(), false);
  for (const Value value : values) is_reached[value.node] = true;
  for (auto id = static_cast<NodeId>(graph.nodes().size()); id-- > 0;) {
    if (!is_reached[id]) continue;
    for (const Value operand : graph.node(id).operands) is_reached[operand.node] = true;
  }
  return is_reached;
}

// The parameters that the values depend on.
Places parameters_of(const Graph& graph, std::span<const Value> values) {
  const std::vector<bool> is_reached = reached(graph, values);
  Places places;
  for (NodeId id = 0; id < graph.nodes().size(); ++id) {
    const Node& node = graph.node(id);
    if (is_reached[id] && node.op == Op::parameter)
      places.insert(static_cast<std::size_t>(std::get<Index>(node.attributes).index));
  }
  return places;
}

// A graph of only the nodes that the values depend on; its parameters are `kept`.
Graph part_of(const Graph& graph, std::span<const Value> values, const Places& kept) {
  Builder b("part of " + graph.name(), graph.shared_dims());
  const std::vector<bool> is_reached = reached(graph, values);
  std::map<std::size_t, Value> parameters;
  for (const std::size_t place : kept)
    parameters[place] = b.parameter(graph.parameters()[place].name, graph.parameters()[place].shape);
  std::vector<std::vector<Value>> found(graph.nodes().size());
  for (NodeId id = 0; id < graph.nodes().size(); ++id) {
    if (!is_reached[id]) continue;
    const Node& node = graph.node(id);
    if (node.op == Op::parameter) {
      found[id] = {parameters.at(static_cast<std::size_t>(std::get<Index>(node.attributes).index))};
    } else if (node.op == Op::constant) {
      found[id] = {b.constant(graph.constants()[static_cast<std::size_t>(std::get<Index>(node.attributes).index)])};
    } else {
      std::vector<Value> operands;
      for (const Value operand : node.operands) operands.push_back(found[operand.node][operand.result]);
      found[id] = b.emit(node.op, std::move(operands), node.attributes, node.regions);
    }
  }
  for (const Value value : values)
    b.output("output " + std::to_string(b.so_far().outputs().size()), found[value.node][value.result]);
  return b.finish();
}

std::vector<Value> outputs_of(const Graph& graph, const Places& places) {
  std::vector<Value> values;
  for (const std::size_t place : places) values.push_back(graph.outputs()[place].value);
  return values;
}

bool has_named_dims(const Graph& graph) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), [](const Node& node) {
    return std::any_of(node.results.begin(), node.results.end(), [](const Shape& shape) { return !shape.is_static(); });
  });
}

std::int64_t count_trips(Backward& call) {
  const Graph &condition = *call.node.regions[0], &body = *call.node.regions[1];
  // The parameters that the condition depends on, in this trip or a later one.
  const Value verdict = condition.outputs()[0].value;
  Places needed = parameters_of(condition, std::span(&verdict, 1));
  for (std::size_t before = needed.size() + 1; before != needed.size();) {
    before = needed.size();
    needed.merge(parameters_of(body, outputs_of(body, needed)));
  }
  std::vector<Value> initial;
  for (const std::size_t place : needed) initial.push_back(call.x(place));
  const Graph& outside = call.b.so_far();
  if (!parameters_of(outside, initial).empty())
    call.fail("the number of trips depends on values that are given at each run");
  const Graph start = part_of(outside, initial, {}), goes_on = part_of(condition, std::span(&verdict, 1), needed),
              step = part_of(body, outputs_of(body, needed), needed);
  if (has_named_dims(start) || has_named_dims(goes_on) || has_named_dims(step))
    call.fail("the number of trips depends on named dims");
  std::vector<Tensor> state = interpret(start, {}, base::Cancellation::never());
  std::int64_t trips = 0;
  while (interpret(goes_on, state, base::Cancellation::never()).front().values<bool>()[0]) {
    if (++trips > kMostTrips) call.fail("it makes more than " + std::to_string(kMostTrips) + " trips");
    state = interpret(step, state, base::Cancellation::never());
  }
  return trips;
}

Dims stacked(std::int64_t trips, Dims dims) {
  dims.insert(dims.begin(), trips);
  return dims;
}

// The start indices of a trip's value in a stack.
std::vector<Value> start_of(Builder& b, Value trip, std::size_t rank) {
  std::vector<Value> places{trip};
  for (std::size_t i = 0; i < rank; ++i) places.push_back(b.scalar(DType::i64, 0));
  return places;
}

Region compare_trip(const Builder& outside, const std::vector<Shape>& state, Op op, double bound) {
  Builder b("trips are left", outside.dims());
  for (const Shape& shape : state) b.parameter("state " + std::to_string(b.so_far().parameters().size()), shape);
  b.output("goes on", b.emit(op, {{0, 0}, b.scalar(DType::i64, bound)}, NoAttributes{}).front());
  return std::make_shared<const Graph>(b.finish());
}

std::vector<Shape> shapes_of(const Builder& b, const std::vector<Value>& values) {
  std::vector<Shape> shapes;
  for (const Value value : values) shapes.push_back(b.shape(value));
  return shapes;
}

std::vector<Value> parameters_like(Builder& b, const std::vector<Shape>& shapes) {
  std::vector<Value> values;
  for (const Shape& shape : shapes) values.push_back(b.parameter("state " + std::to_string(values.size()), shape));
  return values;
}

Region finished(Builder& b, const std::vector<Value>& outputs) {
  for (const Value value : outputs) b.output("state " + std::to_string(b.so_far().outputs().size()), value);
  return std::make_shared<const Graph>(b.finish());
}

// The state before each trip: every loop value stacked along a first axis of trips.
std::vector<Value> record_states(Backward& call, std::int64_t trips) {
  Builder& b = call.b;
  const std::size_t count = call.node.operands.size();
  std::vector<Value> state{b.scalar(DType::i64, 0)};
  state.insert(state.end(), call.node.operands.begin(), call.node.operands.end());
  for (std::size_t i = 0; i < count; ++i) {
    const Shape shape = call.x_shape(i);
    state.push_back(zeros(b, {shape.dtype, stacked(trips, shape.dims)}));
  }
  const std::vector<Shape> shapes = shapes_of(b, state);
  Builder trip("trip", b.dims());
  const std::vector<Value> taken = parameters_like(trip, shapes);
  const std::vector<Value> values(taken.begin() + 1, taken.begin() + 1 + static_cast<std::ptrdiff_t>(count));
  std::vector<Value> given{trip.add({taken[0], trip.scalar(DType::i64, 1)})};
  for (const Value value : inline_graph(trip, *call.node.regions[1], values)) given.push_back(value);
  for (std::size_t i = 0; i < count; ++i) {
    const Dims dims = trip.shape(values[i]).dims;
    std::vector<Value> operands{taken[1 + count + i], trip.reshape({values[i]}, {.dims = stacked(1, dims)})};
    for (const Value place : start_of(trip, taken[0], dims.size())) operands.push_back(place);
    given.push_back(trip.dynamic_update_slice(std::move(operands)));
  }
  const std::vector<Value> last =
      b.while_loop(state, compare_trip(b, shapes, Op::less, static_cast<double>(trips)), finished(trip, given));
  return {last.begin() + 1 + static_cast<std::ptrdiff_t>(count), last.end()};
}

void while_loop(Backward& call) {
  Builder& b = call.b;
  const std::int64_t trips = count_trips(call);
  std::vector<std::size_t> floats;  // the loop values with cotangents
  for (std::size_t i = 0; i < call.node.operands.size(); ++i) {
    if (is_differentiable(call.x_shape(i).dtype)) floats.push_back(i);
  }
  std::vector<Value> state{b.scalar(DType::i64, static_cast<double>(trips - 1))};
  for (const std::size_t i : floats) state.push_back(call.g(i));
  if (trips == 0) {
    for (std::size_t i = 0; i < floats.size(); ++i) call.give(floats[i], state[1 + i]);
    return;
  }
  for (const Value stack : record_states(call, trips)) state.push_back(stack);
  const std::vector<Shape> shapes = shapes_of(b, state);

  Builder trip("trip back", b.dims());
  const std::vector<Value> taken = parameters_like(trip, shapes);
  std::vector<Value> values;  // of the loop, before the trip
  for (std::size_t i = 0; i < call.node.operands.size(); ++i) {
    const Value stack = taken[1 + floats.size() + i];
    const Dims dims = call.x_shape(i).dims;
    std::vector<Value> operands{stack};
    for (const Value place : start_of(trip, taken[0], dims.size())) operands.push_back(place);
    const Value slice = trip.dynamic_slice(std::move(operands), {.slice_sizes = stacked(1, dims)});
    values.push_back(trip.reshape({slice}, {.dims = dims}));
  }
  const std::vector<Value> results = inline_graph(trip, *call.node.regions[1], values);
  std::vector<Value> outputs, cotangents, asked;
  for (std::size_t i = 0; i < floats.size(); ++i) {
    outputs.push_back(results[floats[i]]);
    cotangents.push_back(taken[1 + i]);
    asked.push_back(values[floats[i]]);
  }
  std::vector<Value> given{trip.sub({taken[0], trip.scalar(DType::i64, 1)})};
  for (const Value gradient : gradients(trip, outputs, cotangents, asked)) given.push_back(gradient);
  given.insert(given.end(), taken.begin() + 1 + static_cast<std::ptrdiff_t>(floats.size()), taken.end());
  const std::vector<Value> found =
      b.while_loop(state, compare_trip(b, shapes, Op::greater_or_equal, 0), finished(trip, given));
  for (std::size_t i = 0; i < floats.size(); ++i) call.give(floats[i], found[1 + i]);
}

constexpr GradientRule kLoopRules[] = {{Op::while_loop, while_loop}};

}  // namespace

std::span<const GradientRule> loop_gradients() { return kLoopRules; }

}  // namespace alate::graph
