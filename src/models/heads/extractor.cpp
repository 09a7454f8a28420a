#include "models/heads/extractor.h"

#include <string>
#include <vector>

#include "graph/builder_functions.h"
#include "models/blocks/word_spans.h"
#include "models/heads/counting_layers.h"
#include "models/inputs/word_inputs.h"

namespace alate::models {
namespace {

using graph::Value;

// Layers by the names of the package gliner2.
class ExtractorHead {
 public:
  ExtractorHead(EncoderScope& scope, const ExtractorConfig& config, std::int64_t hidden)
      : scope_(scope), b_(scope.b), in_(scope.in.words.value()), config_(config), hidden_(hidden) {}

  std::vector<EncoderOutput> outputs(Value x) {
    const Value words = graph::take_rows(b_, x, in_.word_tokens);
    const Value labels = graph::take_rows(b_, graph::take_rows(b_, x, in_.label_tokens), padded_labels(scope_));
    const std::vector<Value> states = instance_states(scope_, labels, hidden_, ExtractorConfig::kInstances);
    const std::string name = "span_rep.span_rep_layer.";
    const auto marked = [&](const char* project) {
      return graph::relu(b_, two_layers(scope_, name + project, words, hidden_, 4 * hidden_));
    };
    const Value starts = marked("project_start"), ends = marked("project_end");
    const Value features = span_features(scope_, name + "out_project", starts, ends, hidden_, config_.max_width);
    return {{"span_logits", span_logits(features, labels, states)},
            {"first_span_logits", span_logits(features, labels, {states.front()})},
            {"mark_logits", mark_logits(x)}};
  }

 private:
  Value span_logits(Value features, Value labels, const std::vector<Value>& states) {
    const std::string name = "span_rep.span_rep_layer.out_project";
    const auto instances = static_cast<std::int64_t>(states.size());
    const Value queries = instance_queries(scope_, config_.counting, labels, states, hidden_);
    b_.set_source(name);
    // [sequences, most_words, widths, most_labels, instances]
    const Value scores =
        b_.dot_general({features, folded_queries(scope_, name, queries, hidden_)},
                       {.lhs_batch = {0}, .rhs_batch = {0}, .lhs_contracting = {3}, .rhs_contracting = {3}});
    const Value of_pairs =
        b_.gather({scores, in_.pair_places}, {.offset_dims = {1, 2},
                                              .collapsed_slice_dims = {0, 1, 3},
                                              .start_index_map = {0, 1, 3},
                                              .index_vector_dim = 1,
                                              .slice_sizes = {1, 1, config_.max_width, 1, instances}});
    const graph::Dims& dims = b_.shape(queries).dims;
    const Value bias =
        b_.reshape({query_bias(scope_, name, queries, hidden_)}, {.dims = {dims[0], dims[1], instances}});
    const Value label =
        graph::stack(b_, {graph::column(b_, in_.pair_places, 0), graph::column(b_, in_.pair_places, 2)}, 1);
    const Value bias_of_pairs = b_.gather({bias, label}, {.offset_dims = {1},
                                                          .collapsed_slice_dims = {0, 1},
                                                          .start_index_map = {0, 1},
                                                          .index_vector_dim = 1,
                                                          .slice_sizes = {1, 1, instances}});
    return b_.add({of_pairs, b_.broadcast_in_dim({bias_of_pairs}, {.dims = {in_.pairs, config_.max_width, instances},
                                                                   .mapping = {0, 2}})});
  }

  Value mark_logits(Value x) {
    const Value marks = graph::take_rows(b_, x, in_.tasks.value().mark_tokens);
    const auto judged = [&](const std::string& name, std::int64_t out) {
      b_.set_source(name);
      const Value first = graph::relu(b_, linear(name + ".0", marks, hidden_, 2 * hidden_));
      return linear(name + ".2", first, 2 * hidden_, out);
    };
    return b_.concatenate({judged("count_pred", ExtractorConfig::kCounts), judged("classifier", 1)}, {.axis = 1});
  }

  // Decides results by a hair's breadth, and is little work: stays in float32.
  Value linear(const std::string& name, Value x, std::int64_t in, std::int64_t out) {
    return scope_.weights.linear(b_, name, x, in, out, Rounding::never);
  }

  EncoderScope& scope_;
  graph::Builder& b_;
  const WordInputs& in_;
  const ExtractorConfig config_;
  const std::int64_t hidden_;
};

std::vector<EncoderOutput> build_extractor(EncoderScope& scope, Value last_hidden_state) {
  const std::int64_t hidden = scope.b.shape(last_hidden_state).dims.back().number();
  return ExtractorHead(scope, read_extractor_config(scope.config), hidden).outputs(last_hidden_state);
}

}  // namespace

const EncoderHead& extractor_head() {
  static const EncoderHead head = {
      .name = kExtractorHead, .build = build_extractor, .prefix = kExtractorPrefix, .inputs = &task_inputs()};
  return head;
}

}  // namespace alate::models
