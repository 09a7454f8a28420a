#include "models/blocks/word_spans.h"

#include "graph/builder_functions.h"

namespace alate::models {

using graph::Value;

Value padded_words(EncoderScope& scope) {
  const WordInputs& in = scope.in.words.value();
  return graph::padded_rows(scope.b, in.word_starts, in.word_counts, in.most_words);
}

Value padded_labels(EncoderScope& scope) {
  const WordInputs& in = scope.in.words.value();
  return graph::padded_rows(scope.b, in.label_starts, in.label_counts, in.most_labels);
}

Value two_layers(EncoderScope& scope, const std::string& name, Value x, std::int64_t hidden, std::int64_t inner) {
  scope.b.set_source(name);
  const Value first = graph::relu(scope.b, scope.weights.linear(scope.b, name + ".0", x, hidden, inner));
  return scope.weights.linear(scope.b, name + ".3", first, inner, hidden);
}

Value matrix_columns(graph::Builder& b, Value matrix, std::int64_t rows, std::int64_t first, std::int64_t last) {
  return b.slice({matrix}, {.starts = {0, first}, .limits = {rows, last}, .strides = {}});
}

Value span_features(EncoderScope& scope, const std::string& name, Value starts, Value ends, std::int64_t hidden,
                    std::int64_t widths) {
  graph::Builder& b = scope.b;
  const WordInputs& in = scope.in.words.value();
  const std::int64_t inner = 4 * hidden;
  b.set_source(name);
  const Value weight = scope.weights.get(b, name + ".0.weight", {inner, 2 * hidden});
  const Value of_start = b.dense({starts, matrix_columns(b, weight, inner, 0, hidden)});
  const Value of_end = b.dense(
      {ends, matrix_columns(b, weight, inner, hidden, 2 * hidden), scope.weights.get(b, name + ".0.bias", {inner})},
      {.has_bias = true});
  const Value first = padded_words(scope);
  const graph::Dims places = {b.shape(first).dims[0], in.most_words, widths};
  const Value more = b.iota({}, {.dtype = DType::i32, .dims = places, .axis = 2});
  const Value last = b.add({b.broadcast_in_dim({first}, {.dims = places, .mapping = {0, 1}}), more});
  const Value end = graph::take_rows(b, of_end, last);  // which clamps: spans beyond the words mean nothing
  const Value start =
      b.broadcast_in_dim({graph::take_rows(b, of_start, first)}, {.dims = b.shape(end).dims, .mapping = {0, 1, 3}});
  return graph::relu(b, b.add({start, end}));
}

Value folded_queries(EncoderScope& scope, const std::string& name, Value queries, std::int64_t hidden) {
  const Value second = scope.weights.get(scope.b, name + ".3.weight", {hidden, 4 * hidden});
  return scope.b.dense({queries, scope.b.transpose({second}, {.permutation = {1, 0}})});
}

Value query_bias(EncoderScope& scope, const std::string& name, Value queries, std::int64_t hidden) {
  const Value bias = scope.weights.get(scope.b, name + ".3.bias", {hidden});
  return scope.b.dense({queries, scope.b.reshape({bias}, {.dims = {1, hidden}})});
}

}  // namespace alate::models
