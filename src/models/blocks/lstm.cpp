#include "models/blocks/lstm.h"

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "graph/builder_functions.h"

namespace alate::models {
namespace {

using graph::Builder;
using graph::Numbers;
using graph::Value;

enum class Direction : std::uint8_t { forward, backward };

// The index of a sequence's item at `place` from its other end, where the sequence has `counts` items.
Value from_the_end(Builder& b, Value place, Value counts) {
  return b.sub({b.sub({counts, graph::scalar_like(b, 1, counts)}), place});
}

// A layer: for both directions the products of all inputs are one product each, and a loop over the places of the
// longest row adds those of the states, for the same place of all rows at once. Backward, rows are read from their own
// ends, so that places past a shorter row's end come last in both directions and change nothing.
class LstmLayer {
 public:
  LstmLayer(EncoderScope& scope, std::string name, std::string suffix, std::int64_t width)
      : scope_(scope),
        b_(scope.b),
        in_(scope.in.words.value()),
        name_(std::move(name)),
        suffix_(std::move(suffix)),
        width_(width),
        state_(width / 2) {}

  Value over(Value x) {
    b_.set_source(name_ + suffix_);
    std::vector<Value> values = {b_.scalar(DType::i32, 0)};
    for (const Direction direction : kDirections) values.push_back(inputs(x, direction));
    const graph::Dims dims = b_.shape(values[1]).dims;
    const auto zeros = [&](const graph::Dims& of) { return graph::broadcast_to(b_, b_.scalar(DType::f32, 0), of); };
    for (std::size_t i = 0; i < kDirections.size(); ++i)
      for (const graph::Dims& of : {graph::Dims{dims[1], state_}, {dims[1], state_}, {dims[0], dims[1], state_}})
        values.push_back(zeros(of));
    std::vector<Shape> shapes;
    for (const Value value : values) shapes.push_back(b_.shape(value));
    const std::vector<Value> last = b_.while_loop(values, condition(shapes), step(shapes));
    return b_.concatenate(
        {of_words(last[kFirstState + 2], Direction::forward), of_words(last[kFirstState + 5], Direction::backward)},
        {.axis = 1});
  }

 private:
  // Values of the loop: the place, the inputs' products of both directions, then for each direction the state, the
  // cell, and the states of all places so far.
  static constexpr std::array kDirections = {Direction::forward, Direction::backward};
  static constexpr std::size_t kFirstState = 3, kStates = 3;

  std::string parameter(const char* kind, Direction direction) const {
    return name_ + "." + kind + suffix_ + (direction == Direction::backward ? "_reverse" : "");
  }

  // [longest row, sequences, 4 · state]
  Value inputs(Value x, Direction direction) {
    const std::int64_t gates = 4 * state_;
    const Value bias = b_.add({scope_.weights.get(b_, parameter("bias_ih", direction), {gates}),
                               scope_.weights.get(b_, parameter("bias_hh", direction), {gates})});
    const Value weight = scope_.weights.get(b_, parameter("weight_ih", direction), {gates, width_});
    const graph::Dims places = {in_.most_words, b_.shape(in_.word_counts).dims[0]};
    const auto of_rows = [&](Value row) { return b_.broadcast_in_dim({row}, {.dims = places, .mapping = {1}}); };
    Value place = b_.iota({}, {.dtype = DType::i32, .dims = places, .axis = 0});
    if (direction == Direction::backward) {
      place = from_the_end(b_, place, of_rows(in_.word_counts));
      place = b_.max({place, graph::scalar_like(b_, 0, place)});
    }
    const Value word = b_.add({of_rows(in_.word_starts), place});
    return graph::take_rows(b_, b_.dense({x, weight, bias}, {.has_bias = true}), word);
  }

  graph::Region condition(const std::vector<Shape>& shapes) const {
    Builder region("LSTM goes on", b_.dims());
    const std::vector<Value> values = parameters(region, shapes);
    region.output("goes on", region.less({values[0], region.dimension_size({values[1]}, {.axis = 0})}));
    return std::make_shared<const graph::Graph>(region.finish());
  }

  graph::Region step(const std::vector<Shape>& shapes) {
    Builder region("LSTM step", b_.dims());
    region.set_source(name_ + suffix_);
    std::vector<Value> values = parameters(region, shapes);
    for (std::size_t i = 0; i < kDirections.size(); ++i) advance(region, values, i);
    values[0] = region.add({values[0], region.scalar(DType::i32, 1)});
    for (std::size_t i = 0; i < values.size(); ++i) region.output(std::to_string(i), values[i]);
    return std::make_shared<const graph::Graph>(region.finish());
  }

  static std::vector<Value> parameters(Builder& region, const std::vector<Shape>& shapes) {
    std::vector<Value> values;
    for (std::size_t i = 0; i < shapes.size(); ++i) values.push_back(region.parameter(std::to_string(i), shapes[i]));
    return values;
  }

  // i, f, g, o = σ, σ, tanh, σ of W_ih · x + b_ih + W_hh · h + b_hh; c = f · c + i · g; h = o · tanh(c).
  void advance(Builder& region, std::vector<Value>& values, std::size_t direction) {
    Value &state = values[kFirstState + kStates * direction], &cell = values[kFirstState + kStates * direction + 1],
          &all = values[kFirstState + kStates * direction + 2];
    const Value place = values[0], zero = region.scalar(DType::i32, 0);
    const std::int64_t gates = 4 * state_;
    const Dim sequences = region.shape(state).dims[0];
    const Value given = region.reshape(
        {region.dynamic_slice({values[1 + direction], place, zero, zero}, {.slice_sizes = {1, sequences, gates}})},
        {.dims = {sequences, gates}});
    const Value weight = scope_.weights.get(region, parameter("weight_hh", kDirections[direction]), {gates, state_});
    const std::vector<Value> parts =
        graph::split_evenly(region, region.add({given, region.dense({state, weight})}), 4, 1);
    const Value kept = region.mul({region.logistic({parts[1]}), cell});
    cell = region.add({kept, region.mul({region.logistic({parts[0]}), region.tanh({parts[2]})})});
    state = region.mul({region.logistic({parts[3]}), region.tanh({cell})});
    const Value row = region.reshape({state}, {.dims = {1, sequences, state_}});
    all = region.dynamic_update_slice({all, row, place, zero, zero});
  }

  // The states of all places [longest row, sequences, state] as [words, state].
  Value of_words(Value states, Direction direction) {
    const graph::PackedRows words = graph::packed_rows(b_, in_.word_starts, in_.word_counts, in_.words);
    const Value place = direction == Direction::backward
                            ? from_the_end(b_, words.place, graph::take_rows(b_, in_.word_counts, words.sequence))
                            : words.place;
    const Value index = graph::stack(b_, {place, words.sequence}, 1);
    return b_.gather({states, index}, {.offset_dims = {1},
                                       .collapsed_slice_dims = {0, 1},
                                       .start_index_map = {0, 1},
                                       .index_vector_dim = 1,
                                       .slice_sizes = {1, 1, state_}});
  }

  EncoderScope& scope_;
  Builder& b_;
  const WordInputs& in_;
  const std::string name_, suffix_;
  const std::int64_t width_, state_;
};

}  // namespace

Value bidirectional_lstm(EncoderScope& scope, const std::string& name, Value x, std::int64_t width,
                         std::int64_t layers) {
  for (std::int64_t layer = 0; layer < layers; ++layer)
    x = LstmLayer(scope, name, "_l" + std::to_string(layer), width).over(x);
  return x;
}

}  // namespace alate::models
