#include "models/heads/gliner.h"

#include <numeric>
#include <string>
#include <vector>

#include "graph/builder_functions.h"
#include "models/blocks/lstm.h"
#include "models/blocks/word_spans.h"
#include "models/inputs/word_inputs.h"

namespace alate::models {
namespace {

using graph::Value;

// Layers by the names of the package gliner.
class GlinerHead {
 public:
  GlinerHead(EncoderScope& scope, const GlinerConfig& config)
      : scope_(scope), b_(scope.b), in_(scope.in.words.value()), config_(config), hidden_(config.hidden) {}

  std::vector<EncoderOutput> logits(Value x) {
    Value words = projected(graph::take_rows(b_, x, in_.word_tokens));
    const Value labels = projected(graph::take_rows(b_, x, in_.label_tokens));
    words = bidirectional_lstm(scope_, "rnn.lstm", words, hidden_, config_.recurrent_layers);
    return {
        {"logits", config_.scores == GlinerScores::words ? word_logits(words, labels) : span_logits(words, labels)}};
  }

 private:
  Value linear(const std::string& name, Value x, std::int64_t in, std::int64_t out) {
    return scope_.weights.linear(b_, name, x, in, out);
  }

  // To the head's own width.
  Value projected(Value rows) {
    const std::int64_t width = b_.shape(rows).dims.back().number();
    return width == hidden_ ? rows : linear("token_rep_layer.projection", rows, width, hidden_);
  }

  // Two numbers a width of a word, and two of a label: the first layer over [first of the word, first of the label,
  // product of the second ones] is a product of the word, one of the label, and only one of the pair.
  Value word_logits(Value words, Value labels) {
    const std::string name = "scorer.out_mlp";
    const std::int64_t inner = 4 * hidden_;
    b_.set_source("scorer");
    const auto halves = [&](const std::string& layer, Value rows) {
      return graph::split_evenly(b_, linear(layer, rows, hidden_, 2 * hidden_), 2, 1);
    };
    const std::vector<Value> word = halves("scorer.proj_token", words), label = halves("scorer.proj_label", labels);
    const Value first = scope_.weights.get(b_, name + ".0.weight", {inner, 3 * hidden_});
    const auto part = [&](std::int64_t i) { return matrix_columns(b_, first, inner, i * hidden_, (i + 1) * hidden_); };
    const auto of_words = [&](Value rows) { return graph::take_rows(b_, rows, in_.pair_word); };
    const auto of_labels = [&](Value rows) { return graph::take_rows(b_, rows, in_.pair_label); };
    const Value by_word =
        b_.dense({word[0], part(0), scope_.weights.get(b_, name + ".0.bias", {inner})}, {.has_bias = true});
    const Value by_label = b_.dense({label[0], part(1)});
    const Value by_pair = b_.dense({b_.mul({of_words(word[1]), of_labels(label[1])}), part(2)});
    const Value sum = b_.add({b_.add({of_words(by_word), of_labels(by_label)}), by_pair});
    return linear(name + ".3", graph::relu(b_, sum), inner, 3);
  }

  Value span_logits(Value words, Value labels) {
    const bool has_two = config_.scores == GlinerScores::marker_v0;
    const std::string name = "span_rep_layer.span_rep_layer.";
    const std::int64_t inner = has_two ? 4 * hidden_ : 2 * hidden_;
    const Value starts = graph::relu(b_, two_layers(scope_, name + "project_start", words, hidden_, inner));
    const Value ends = graph::relu(b_, two_layers(scope_, name + "project_end", words, hidden_, inner));
    const Value queries = two_layers(scope_, "prompt_rep_layer", labels, hidden_, 4 * hidden_);
    b_.set_source(name + "out_project");
    return has_two ? two_layer_scores(name + "out_project", starts, ends, queries)
                   : one_layer_scores(name + "out_project", starts, ends, queries);
  }

  Value two_layer_scores(const std::string& name, Value starts, Value ends, Value queries) {
    const Value features = span_features(scope_, name, starts, ends, hidden_, config_.max_width);
    const Value folded = folded_queries(scope_, name, queries, hidden_);
    const Value scores =
        b_.dot_general({features, graph::take_rows(b_, folded, padded_labels(scope_))},
                       {.lhs_batch = {0}, .rhs_batch = {0}, .lhs_contracting = {3}, .rhs_contracting = {2}});
    return b_.add({of_pairs(scores), of_widths(query_bias(scope_, name, queries, hidden_))});
  }

  // With one layer, W · [start; end] + b: the sum of a number of the start and one of the end.
  Value one_layer_scores(const std::string& name, Value starts, Value ends, Value queries) {
    const Value weight = scope_.weights.get(b_, name + ".weight", {hidden_, 2 * hidden_});
    const auto scores = [&](Value rows, std::int64_t first) {
      const Value half = matrix_columns(b_, weight, hidden_, first, first + hidden_);
      const Value folded = b_.dense({queries, b_.transpose({half}, {.permutation = {1, 0}})});
      return b_.dot_general(
          {graph::take_rows(b_, rows, padded_words(scope_)), graph::take_rows(b_, folded, padded_labels(scope_))},
          {.lhs_batch = {0}, .rhs_batch = {0}, .lhs_contracting = {2}, .rhs_contracting = {2}});
    };
    const Value first = of_words(scores(starts, 0), {0}), last = of_words(scores(ends, hidden_), widths());
    const Value sum = b_.add({graph::broadcast_to(b_, first, b_.shape(last).dims), last});
    const Value bias = b_.reshape({scope_.weights.get(b_, name + ".bias", {hidden_})}, {.dims = {1, hidden_}});
    return b_.add({sum, of_widths(b_.dense({queries, bias}))});
  }

  // 0, 1, … for each width.
  std::vector<std::int32_t> widths() const {
    std::vector<std::int32_t> all(static_cast<std::size_t>(config_.max_width));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

  // [sequences, most_words, most_labels] to [pairs, distances]: of the words so many places after each pair's.
  Value of_words(Value scores, const std::vector<std::int32_t>& distances) {
    const auto count = static_cast<std::int64_t>(distances.size());
    std::vector<std::int32_t> steps;
    for (const std::int32_t distance : distances) steps.insert(steps.end(), {0, distance, 0});
    const graph::Dims dims = {in_.pairs, count, 3};
    const Value step = b_.constant(Tensor::from<std::int32_t>({count, 3}, steps));
    const Value places = b_.add({b_.broadcast_in_dim({in_.pair_places}, {.dims = dims, .mapping = {0, 2}}),
                                 b_.broadcast_in_dim({step}, {.dims = dims, .mapping = {1, 2}})});
    return b_.gather({scores, places}, {.offset_dims = {},
                                        .collapsed_slice_dims = {0, 1, 2},
                                        .start_index_map = {0, 1, 2},
                                        .index_vector_dim = 2,
                                        .slice_sizes = {1, 1, 1}});
  }

  // [sequences, most_words, widths, most_labels] to [pairs, widths].
  Value of_pairs(Value scores) {
    return b_.gather({scores, in_.pair_places}, {.offset_dims = {1},
                                                 .collapsed_slice_dims = {0, 1, 3},
                                                 .start_index_map = {0, 1, 3},
                                                 .index_vector_dim = 1,
                                                 .slice_sizes = {1, 1, config_.max_width, 1}});
  }

  // A number of each label, [labels, 1], for all widths of a pair.
  Value of_widths(Value numbers) {
    const Value of_pair = graph::take_rows(b_, numbers, in_.pair_label);
    return b_.broadcast_in_dim({of_pair}, {.dims = {in_.pairs, config_.max_width}, .mapping = {0, 1}});
  }

  EncoderScope& scope_;
  graph::Builder& b_;
  const WordInputs& in_;
  const GlinerConfig config_;
  const std::int64_t hidden_;
};

std::vector<EncoderOutput> build(EncoderScope& scope, Value last_hidden_state) {
  return GlinerHead(scope, read_gliner_config(scope.config)).logits(last_hidden_state);
}

}  // namespace

const EncoderHead& gliner_head() {
  static const EncoderHead head = {
      .name = kGlinerHead, .build = build, .prefix = kGlinerPrefix, .inputs = &word_inputs()};
  return head;
}

}  // namespace alate::models
